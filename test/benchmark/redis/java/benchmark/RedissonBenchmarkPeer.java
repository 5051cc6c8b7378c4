package benchmark;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson's part of the benchmark: {@code KEYS LANES COUNT} on standard input, so many times acquire + release by a
 * thread for each lane; the answer on standard output is the nanoseconds of all of it and of each.
 */
public final class RedissonBenchmarkPeer {
    private final RedissonClient client;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, List<RLock>> locks = new HashMap<>();

    private RedissonBenchmarkPeer(String url) {
        Config config = new Config();
        config.useSingleServer().setAddress(url);
        client = Redisson.create(config);
    }

    public static void main(String[] args) throws Exception {
        RedissonBenchmarkPeer peer = new RedissonBenchmarkPeer(args[0]);
        System.out.println("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split(" ");
            System.out.println(peer.cycles(
                    Integer.parseInt(words[0]), Integer.parseInt(words[1]), Integer.parseInt(words[2])));
        }
        peer.client.shutdown();
        System.exit(0);
    }

    private String cycles(int keys, int lanes, int count) throws Exception {
        List<RLock> mine = locks.computeIfAbsent(keys + " " + lanes, id -> new ArrayList<>());
        while (mine.size() < lanes) {
            mine.add(client.getLock("Redisson " + keys + " " + lanes + " " + mine.size() % keys));
        }
        AtomicInteger left = new AtomicInteger(count);
        ConcurrentLinkedQueue<Long> times = new ConcurrentLinkedQueue<>();
        List<Future<Void>> running = new ArrayList<>();
        long begin = System.nanoTime();
        for (RLock lock : mine) {
            running.add(threads.submit(() -> {
                while (left.getAndDecrement() > 0) {
                    long start = System.nanoTime();
                    lock.lock();
                    lock.unlock();
                    times.add(System.nanoTime() - start);
                }
                return null;
            }));
        }
        for (Future<Void> lane : running) {
            lane.get();
        }
        long took = System.nanoTime() - begin;
        return took + times.stream().map(time -> " " + time).collect(Collectors.joining());
    }
}
