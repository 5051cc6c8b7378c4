package interop;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RPermitExpirableSemaphore;

/** What can be asked of a semaphore whose permits have ids and leases. */
class PermitCommands implements Command, WorkerLock {
    private final RPermitExpirableSemaphore semaphore;
    private final Workers workers;
    /** What each thread has acquired, the last first. */
    private final ThreadLocal<Deque<List<String>>> held = ThreadLocal.withInitial(ArrayDeque::new);

    PermitCommands(RPermitExpirableSemaphore semaphore, Workers workers) {
        this.semaphore = semaphore;
        this.workers = workers;
    }

    @Override
    public String run(String[] words) throws Exception {
        switch (words[0]) {
            case "acquire":
                return acquire(Integer.parseInt(words[2]), Long.parseLong(words[3]), Long.parseLong(words[4]))
                        ? "granted " + String.join(" ", held.get().peek())
                        : "timeout";
            case "release":
                release();
                return "released";
            case "releaseIds":
                return Boolean.toString(semaphore.tryRelease(Arrays.asList(words).subList(2, words.length)) > 0);
            case "available":
                return Integer.toString(semaphore.availablePermits());
            case "acquired":
                return Integer.toString(semaphore.acquiredPermits());
            case "permits":
                return Integer.toString(semaphore.getPermits());
            case "trySetPermits":
                return Boolean.toString(semaphore.trySetPermits(Integer.parseInt(words[2])));
            case "setPermits":
                semaphore.setPermits(Integer.parseInt(words[2]));
                return "set";
            case "addPermits":
                semaphore.addPermits(Integer.parseInt(words[2]));
                return "added";
            case "leaseTime":
                return Long.toString(semaphore.getLeaseTime(words[2]));
            case "updateLeaseTime":
                return Boolean.toString(
                        semaphore.updateLeaseTime(words[2], Long.parseLong(words[3]), TimeUnit.MILLISECONDS));
            case "work":
                return Integer.toString(workers.work(this, Integer.parseInt(words[2]), words[3]));
            default:
                throw new IllegalArgumentException("No such command: " + words[0]);
        }
    }

    @Override
    public boolean acquire() throws InterruptedException {
        return acquire(1, -1, -1);
    }

    @Override
    public void release() {
        semaphore.release(held.get().pop());
    }

    @Override
    public long sequence() {
        return -1;
    }

    private boolean acquire(int permits, long wait, long lease) throws InterruptedException {
        List<String> ids = wait < 0
                ? semaphore.acquire(permits, lease, TimeUnit.MILLISECONDS)
                : semaphore.tryAcquire(permits, wait, lease, TimeUnit.MILLISECONDS);
        if (ids == null || ids.isEmpty()) {
            return false;
        }
        held.get().push(ids);
        return true;
    }
}
