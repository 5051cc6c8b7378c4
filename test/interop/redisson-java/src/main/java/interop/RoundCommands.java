package interop;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RedissonClient;

/**
 * A member of the fleet that meets all others at a latch, round after round. There are two latches: who is late to leave
 * one still finds it open when others have closed the next.
 */
class RoundCommands implements Command, WorkerLock {
    /** How long it waits before it looks whether it is time to rest, in ms. */
    private static final int PATIENCE = 2_000;

    private final RCountDownLatch[] latches;
    private final int size;
    private final Workers workers;
    private int round;
    private boolean hasArrived;

    RoundCommands(RedissonClient client, String name, int size, Workers workers) {
        this.latches = new RCountDownLatch[] {
            client.getCountDownLatch(name + ":even"), client.getCountDownLatch(name + ":odd")
        };
        this.size = size;
        this.workers = workers;
    }

    @Override
    public String run(String[] words) throws Exception {
        if (!words[0].equals("work")) {
            throw new IllegalArgumentException("No such command: " + words[0]);
        }
        return Integer.toString(workers.work(this, Integer.parseInt(words[2]), words[3]));
    }

    @Override
    public boolean acquire() throws InterruptedException {
        RCountDownLatch latch = latches[round % 2];
        if (!hasArrived) {
            latch.trySetCount(size);
            latch.countDown();
            hasArrived = true;
        }
        if (!latch.await(PATIENCE, TimeUnit.MILLISECONDS)) {
            return false;
        }
        hasArrived = false;
        round++;
        return true;
    }

    @Override
    public void release() {
        // it is open for all
    }

    @Override
    public long sequence() {
        return -1;
    }
}
