package interop;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;

/**
 * A process that takes locks as it is told on standard input, one command a line, and answers on standard output, one
 * line each. Arguments: connect string, session timeout in ms. It ends with its input.
 */
public class Peer {
    private static final int CONNECTION_TIMEOUT = 15_000;

    public static void main(String[] args) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(args[0])
                .sessionTimeoutMs(Integer.parseInt(args[1]))
                .connectionTimeoutMs(CONNECTION_TIMEOUT)
                .retryPolicy(new RetryNTimes(100, 100))
                .ensembleTracker(false) // its watch would be among those that locks may not leave behind
                .build();
        client.start();
        client.blockUntilConnected();
        System.out.println("ready");

        new Actors(new Commands(client)).listen(System.in);
        client.close();
        System.exit(0); // waiting actors would keep it alive
    }
}
