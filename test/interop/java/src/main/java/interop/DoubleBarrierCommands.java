package interop;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;

/** What can be asked of a member of a double barrier. */
class DoubleBarrierCommands implements Command {
    private final DistributedDoubleBarrier barrier;

    DoubleBarrierCommands(DistributedDoubleBarrier barrier) {
        this.barrier = barrier;
    }

    @Override
    public String run(String[] words) throws Exception {
        switch (words[0]) {
            case "enter":
                return Boolean.toString(barrier.enter(Long.parseLong(words[2]), TimeUnit.MILLISECONDS));
            case "leave":
                return Boolean.toString(barrier.leave(Long.parseLong(words[2]), TimeUnit.MILLISECONDS));
            default:
                throw new IllegalArgumentException("No such command: " + words[0]);
        }
    }
}
