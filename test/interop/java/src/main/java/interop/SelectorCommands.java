package interop;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;

/** What can be asked of a leader selector, which leads until it is told to <code>yield</code>. */
class SelectorCommands implements Command {
    private final LeaderSelector selector;
    /** Terms that have begun, and nobody was told of. */
    private final Semaphore begun = new Semaphore(0);
    private final Semaphore isOver = new Semaphore(0);

    /** @param id empty: it has none */
    SelectorCommands(CuratorFramework client, String path, String id) {
        this.selector = new LeaderSelector(client, path, new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework unused) throws InterruptedException {
                begun.release();
                isOver.acquire();
            }
        });
        if (!id.isEmpty()) {
            selector.setId(id);
        }
    }

    @Override
    public String run(String[] words) throws Exception {
        switch (words[0]) {
            case "start":
                selector.start();
                return "started";
            case "requeue":
                return Boolean.toString(selector.requeue());
            case "interrupt":
                selector.interruptLeadership();
                return "interrupted";
            case "yield":
                isOver.release();
                return "over";
            case "close":
                selector.close();
                return "closed";
            case "awaitLeadership":
                return begun.tryAcquire(Long.parseLong(words[2]), TimeUnit.MILLISECONDS) ? "leader" : "timeout";
            case "hasLeadership":
                return Boolean.toString(selector.hasLeadership());
            case "electionParticipants":
                return Participants.text(selector.getParticipants());
            case "leader":
                return selector.getLeader().getId();
            default:
                throw new IllegalArgumentException("No such command: " + words[0]);
        }
    }
}
