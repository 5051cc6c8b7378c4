package interop;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RSemaphore;

/** What can be asked of a semaphore whose permits nobody owns. */
class SemaphoreCommands implements Command, WorkerLock {
    private final RSemaphore semaphore;
    private final Workers workers;

    SemaphoreCommands(RSemaphore semaphore, Workers workers) {
        this.semaphore = semaphore;
        this.workers = workers;
    }

    @Override
    public String run(String[] words) throws Exception {
        switch (words[0]) {
            case "acquire":
                return acquire(Integer.parseInt(words[2]), Long.parseLong(words[3])) ? "granted" : "timeout";
            case "release":
                semaphore.release(Integer.parseInt(words[2]));
                return "released";
            case "releaseIfExists":
                return Boolean.toString(semaphore.releaseIfExists(Integer.parseInt(words[2])));
            case "available":
                return Integer.toString(semaphore.availablePermits());
            case "trySetPermits":
                return Boolean.toString(semaphore.trySetPermits(Integer.parseInt(words[2])));
            case "addPermits":
                semaphore.addPermits(Integer.parseInt(words[2]));
                return "added";
            case "drain":
                return Integer.toString(semaphore.drainPermits());
            case "work":
                return Integer.toString(workers.work(this, Integer.parseInt(words[2]), words[3]));
            default:
                throw new IllegalArgumentException("No such command: " + words[0]);
        }
    }

    @Override
    public boolean acquire() throws InterruptedException {
        return acquire(1, -1);
    }

    @Override
    public void release() {
        semaphore.release();
    }

    @Override
    public long sequence() {
        return -1;
    }

    private boolean acquire(int permits, long wait) throws InterruptedException {
        if (wait >= 0) {
            return semaphore.tryAcquire(permits, wait, TimeUnit.MILLISECONDS);
        }
        semaphore.acquire(permits);
        return true;
    }
}
