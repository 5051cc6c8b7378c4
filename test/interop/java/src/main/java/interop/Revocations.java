package interop;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.Revocable;

/** Which locks were asked to be given up, and not yet told so. */
class Revocations {
    private final Map<String, Semaphore> told = new ConcurrentHashMap<>();

    /** Listens for revocations of that lock; to be called before it is acquired, each time. */
    void listen(String specification, ProcessLock lock) {
        Semaphore revocations = of(specification);
        makeRevocable((Revocable<?>) lock.curatorLock(), revocations);
    }

    /** Waits for the next revocation that nobody was told of. */
    boolean await(String specification, long wait) throws InterruptedException {
        return of(specification).tryAcquire(wait, TimeUnit.MILLISECONDS);
    }

    private static <T> void makeRevocable(Revocable<T> lock, Semaphore revocations) {
        lock.makeRevocable(forLock -> revocations.release());
    }

    private Semaphore of(String specification) {
        return told.computeIfAbsent(specification, s -> new Semaphore(0));
    }
}
