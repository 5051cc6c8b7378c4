package benchmark;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;

/** One acquire + release of each recipe, on lock objects that are made once. */
final class Recipes {
    private final CuratorFramework client;

    Recipes(CuratorFramework client) {
        this.client = client;
    }

    Callable<Void> cycle(String recipe, String path) {
        switch (recipe) {
            case "mutex":
                return cycle(new InterProcessMutex(client, path));
            case "readLock":
                return cycle(new InterProcessReadWriteLock(client, path).readLock());
            case "writeLock":
                return cycle(new InterProcessReadWriteLock(client, path).writeLock());
            case "semaphoreMutex":
                return cycle(new InterProcessSemaphoreMutex(client, path));
            case "multiLock":
                return cycle(new InterProcessMultiLock(mutexes(path)));
            default: // semaphore:PERMITS
                int permits = Integer.parseInt(recipe.substring("semaphore:".length()));
                InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, path, permits);
                return () -> {
                    semaphore.returnLease(semaphore.acquire());
                    return null;
                };
        }
    }

    private List<InterProcessLock> mutexes(String path) {
        return IntStream.range(0, 5)
                .mapToObj(i -> new InterProcessMutex(client, path + "-" + i))
                .collect(Collectors.toList());
    }

    private static Callable<Void> cycle(InterProcessLock lock) {
        return () -> {
            lock.acquire();
            lock.release();
            return null;
        };
    }
}
