package benchmark;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** Threads that queue for a mutex behind its holder, and let it go at once when it is theirs. */
final class MutexQueue {
    private final InterProcessMutex holder;
    private final long[] grantedAt;
    private final AtomicInteger granted = new AtomicInteger();
    private final CountDownLatch released;

    /** Takes the mutex and starts the waiters, spread over the clients in turn. */
    MutexQueue(List<CuratorFramework> clients, String path, int waiters) throws Exception {
        grantedAt = new long[waiters];
        released = new CountDownLatch(waiters);
        holder = new InterProcessMutex(clients.get(0), path);
        holder.acquire();
        for (int i = 0; i < waiters; i++) {
            InterProcessMutex mutex = new InterProcessMutex(clients.get(i % clients.size()), path);
            new Thread(() -> passOn(mutex)).start();
        }
    }

    /** Nanoseconds from the holder's release to each grant. */
    String serve() throws Exception {
        long begin = System.nanoTime();
        holder.release();
        released.await();
        return LongStream.of(grantedAt).mapToObj(at -> "" + (at - begin)).collect(Collectors.joining(" "));
    }

    private void passOn(InterProcessMutex mutex) {
        try {
            mutex.acquire();
            grantedAt[granted.getAndIncrement()] = System.nanoTime();
            mutex.release();
            released.countDown();
        } catch (Exception error) {
            error.printStackTrace();
            System.exit(1); // a peer that lost a waiter measures nothing
        }
    }
}
