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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson's part of the benchmark: {@code RECIPE KEYS LANES COUNT} on standard input, so many times acquire +
 * release by a thread for each lane; the answer on standard output is the nanoseconds of all of it and of each.
 */
public final class RedissonBenchmarkPeer {
    private final List<RedissonClient> clients = new ArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, List<Cycle>> lanes = new HashMap<>();

    /** Acquire + release. */
    private interface Cycle {
        void run() throws Exception;
    }

    private RedissonBenchmarkPeer(String[] urls) {
        for (String url : urls) {
            Config config = new Config();
            config.useSingleServer().setAddress(url);
            clients.add(Redisson.create(config));
        }
    }

    public static void main(String[] args) throws Exception {
        RedissonBenchmarkPeer peer = new RedissonBenchmarkPeer(args);
        System.out.println("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split(" ");
            System.out.println(peer.cycles(
                    words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3])));
        }
        peer.clients.forEach(RedissonClient::shutdown);
        System.exit(0);
    }

    private Cycle cycle(String recipe, String key) {
        switch (recipe) {
            case "semaphore":
                RPermitExpirableSemaphore semaphore = clients.get(0).getPermitExpirableSemaphore(key);
                semaphore.trySetPermits(3);
                return () -> semaphore.release(semaphore.acquire(30, TimeUnit.SECONDS));
            case "oneSlot":
                return cycle(new RedissonMultiLock(parts("{" + key + "}")));
            case "manySlots":
                return cycle(new RedissonMultiLock(parts(key)));
            case "redLock":
                return cycle(new RedissonRedLock(
                        clients.stream().map(client -> client.getLock(key)).toArray(RLock[]::new)));
            default:
                return cycle(clients.get(0).getLock(key));
        }
    }

    private static Cycle cycle(RLock lock) {
        return () -> {
            lock.lock();
            lock.unlock();
        };
    }

    private RLock[] parts(String key) {
        return IntStream.range(0, 5).mapToObj(i -> clients.get(0).getLock(key + " " + i)).toArray(RLock[]::new);
    }

    private String cycles(String recipe, int keys, int lanes, int count) throws Exception {
        String id = recipe + " " + keys + " " + lanes;
        List<Cycle> mine = this.lanes.computeIfAbsent(id, unused -> new ArrayList<>());
        while (mine.size() < lanes) {
            mine.add(cycle(recipe, "Redisson " + id + " " + mine.size() % keys));
        }
        AtomicInteger left = new AtomicInteger(count);
        ConcurrentLinkedQueue<Long> times = new ConcurrentLinkedQueue<>();
        List<Future<Void>> running = new ArrayList<>();
        long begin = System.nanoTime();
        for (Cycle cycle : mine) {
            running.add(threads.submit(() -> {
                while (left.getAndDecrement() > 0) {
                    long start = System.nanoTime();
                    cycle.run();
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
