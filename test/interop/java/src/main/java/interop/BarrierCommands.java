package interop;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;

/** What can be asked of a barrier. */
class BarrierCommands implements Command {
    private final DistributedBarrier barrier;

    BarrierCommands(DistributedBarrier barrier) {
        this.barrier = barrier;
    }

    @Override
    public String run(String[] words) throws Exception {
        switch (words[0]) {
            case "set":
                barrier.setBarrier();
                return "set";
            case "remove":
                barrier.removeBarrier();
                return "removed";
            case "wait":
                return Boolean.toString(barrier.waitOnBarrier(Long.parseLong(words[2]), TimeUnit.MILLISECONDS));
            default:
                throw new IllegalArgumentException("No such command: " + words[0]);
        }
    }
}
