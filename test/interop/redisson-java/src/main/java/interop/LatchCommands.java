package interop;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RCountDownLatch;

/** What can be asked of a count-down latch. */
class LatchCommands implements Command {
    private final RCountDownLatch latch;

    LatchCommands(RCountDownLatch latch) {
        this.latch = latch;
    }

    @Override
    public String run(String[] words) throws Exception {
        switch (words[0]) {
            case "trySetCount":
                return Boolean.toString(latch.trySetCount(Long.parseLong(words[2])));
            case "countDown":
                latch.countDown();
                return "counted";
            case "count":
                return Long.toString(latch.getCount());
            case "await":
                return await(Long.parseLong(words[2])) ? "open" : "timeout";
            case "delete":
                return Boolean.toString(latch.delete());
            default:
                throw new IllegalArgumentException("No such command: " + words[0]);
        }
    }

    private boolean await(long wait) throws InterruptedException {
        if (wait >= 0) {
            return latch.await(wait, TimeUnit.MILLISECONDS);
        }
        latch.await();
        return true;
    }
}
