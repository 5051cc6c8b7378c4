package interop;

import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;

/** One member of the fleet: takes the lock, holds it for 0 to 5 ms, gives it back, again and again. */
class Worker {
    private static final int LONGEST_HOLD = 5;

    private final WorkerLock lock;
    private final Observer observer;
    private final AtomicBoolean isOver;
    private int failures;

    Worker(WorkerLock lock, Observer observer, AtomicBoolean isOver) {
        this.lock = lock;
        this.observer = observer;
        this.isOver = isOver;
    }

    /** @return how often the library threw: the connection was lost, and its retries did not help */
    int run() throws IOException, InterruptedException {
        while (!isOver.get()) {
            if (acquire()) {
                observer.tell("begin " + lock.sequence());
                Thread.sleep(ThreadLocalRandom.current().nextInt(LONGEST_HOLD + 1));
                observer.tell("end"); // before the release: nobody else may be granted the lock until then
                release();
            }
        }
        return failures;
    }

    private boolean acquire() {
        try {
            return lock.acquire();
        } catch (Exception e) {
            failures++;
            return false;
        }
    }

    private void release() {
        try {
            lock.release();
        } catch (Exception e) { // it goes in the background, or with its lease
            failures++;
        }
    }
}
