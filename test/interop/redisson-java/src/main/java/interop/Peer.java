package interop;

import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;

/**
 * A process that takes locks as it is told on standard input, one command a line, and answers on standard output, one
 * line each. Arguments: lockWatchdogTimeout in ms, then the URL of one server, or those of several nodes of a cluster. It
 * ends with its input.
 */
public class Peer {
    /** Several of these processes share a small machine. */
    private static final int NETTY_THREADS = 4;
    private static final int IDLE_CONNECTIONS = 1;

    public static void main(String[] args) throws Exception {
        Config config = new Config();
        config.setLockWatchdogTimeout(Long.parseLong(args[0]));
        config.setNettyThreads(NETTY_THREADS);
        useServers(config, List.of(args).subList(1, args.length));
        RedissonClient client = Redisson.create(config);
        System.out.println("ready");

        new Actors(new Commands(client)).listen(System.in);
        System.exit(0); // waiting actors would keep it alive
    }

    private static void useServers(Config config, List<String> urls) {
        if (urls.size() == 1) {
            config.useSingleServer()
                    .setAddress(urls.get(0))
                    .setConnectionMinimumIdleSize(IDLE_CONNECTIONS);
            return;
        }
        ClusterServersConfig cluster = config.useClusterServers()
                .setMasterConnectionMinimumIdleSize(IDLE_CONNECTIONS)
                .setSlaveConnectionMinimumIdleSize(IDLE_CONNECTIONS);
        urls.forEach(cluster::addNodeAddress);
    }
}
