package benchmark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;

/** Acquire + release again and again, by threads that each have a lock object of their own on the one client. */
final class Cycles {
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, List<Callable<Void>>> lanes = new HashMap<>();
    private final Recipes recipes;

    Cycles(CuratorFramework client) {
        recipes = new Recipes(client);
    }

    /** Nanoseconds that {@code count} cycles take, {@code lanes} of them at a time. */
    long run(String recipe, String path, int laneCount, int count) throws Exception {
        List<Callable<Void>> works =
                lanes.computeIfAbsent(recipe + " " + path, key -> new ArrayList<>());
        while (works.size() < laneCount) {
            works.add(recipes.cycle(recipe, path));
        }

        AtomicInteger left = new AtomicInteger(count);
        List<Future<Void>> running = new ArrayList<>();
        long begin = System.nanoTime();
        for (Callable<Void> work : works.subList(0, laneCount)) {
            running.add(threads.submit(() -> {
                while (left.getAndDecrement() > 0) {
                    work.call();
                }
                return null;
            }));
        }
        for (Future<Void> lane : running) {
            lane.get();
        }
        return System.nanoTime() - begin;
    }
}
