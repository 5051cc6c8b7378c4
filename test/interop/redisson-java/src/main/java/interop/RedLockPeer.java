package interop;

import java.util.ArrayList;
import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * A process that takes locks on several servers, none of which knows of the others; it is told as {@link Peer} is.
 * Arguments: lockWatchdogTimeout in ms, then the URLs of the servers.
 */
public class RedLockPeer {
    private static final int NETTY_THREADS = 4;

    public static void main(String[] args) throws Exception {
        List<RedissonClient> clients = new ArrayList<>();
        for (String url : List.of(args).subList(1, args.length)) {
            Config config = new Config();
            config.setLockWatchdogTimeout(Long.parseLong(args[0]));
            config.setNettyThreads(NETTY_THREADS);
            config.useSingleServer().setAddress(url).setConnectionMinimumIdleSize(1).setRetryAttempts(1);
            clients.add(Redisson.create(config));
        }
        System.out.println("ready");
        new Actors(new RedLockCommands(clients)).listen(System.in);
        System.exit(0); // waiting actors would keep it alive
    }
}
