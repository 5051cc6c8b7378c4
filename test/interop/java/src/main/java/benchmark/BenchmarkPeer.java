package benchmark;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;

/**
 * Curator's part of the benchmark: commands on standard input, one answer to each on standard output.
 *
 * <ul>
 *   <li>{@code cycles RECIPE PATH LANES COUNT}: so many times acquire + release; answers with nanoseconds
 *   <li>{@code queue PATH WAITERS SESSIONS}: takes the mutex and lets others queue for it; answers with 0
 *   <li>{@code serve}: lets the queue go on; answers with the nanoseconds from then to each grant
 * </ul>
 */
public final class BenchmarkPeer {
    private final String connectString;
    private final List<CuratorFramework> clients = new ArrayList<>();
    private final Cycles cycles;
    private MutexQueue queue;

    private BenchmarkPeer(String connectString) throws Exception {
        this.connectString = connectString;
        cycles = new Cycles(clients(1).get(0));
    }

    public static void main(String[] args) throws Exception {
        BenchmarkPeer peer = new BenchmarkPeer(args[0]);
        System.out.println("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            System.out.println(peer.run(line.split(" ")));
        }
        peer.clients.forEach(CuratorFramework::close);
        System.exit(0);
    }

    private String run(String[] command) throws Exception {
        switch (command[0]) {
            case "cycles":
                int lanes = Integer.parseInt(command[3]);
                return "" + cycles.run(command[1], command[2], lanes, Integer.parseInt(command[4]));
            case "queue":
                List<CuratorFramework> sessions = clients(Integer.parseInt(command[3]));
                queue = new MutexQueue(sessions, command[1], Integer.parseInt(command[2]));
                return "0";
            case "serve":
                return queue.serve();
            default:
                throw new IllegalArgumentException(command[0]);
        }
    }

    private List<CuratorFramework> clients(int count) throws Exception {
        while (clients.size() < count) {
            CuratorFramework client =
                    CuratorFrameworkFactory.newClient(connectString, 30_000, 15_000, new RetryForever(50));
            client.start();
            client.blockUntilConnected();
            clients.add(client);
        }
        return clients.subList(0, count);
    }
}
