package interop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;

/** What can be asked of a leader latch. */
class LatchCommands implements Command {
    private final CuratorFramework client;
    private final LeaderLatch latch;
    private final List<String> events = new CopyOnWriteArrayList<>();

    /** @param id empty: it has none */
    LatchCommands(CuratorFramework client, String path, String id) {
        this.client = client;
        this.latch = id.isEmpty() ? new LeaderLatch(client, path) : new LeaderLatch(client, path, id);
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                events.add("isLeader");
            }

            @Override
            public void notLeader() {
                events.add("notLeader");
            }
        });
    }

    @Override
    public String run(String[] words) throws Exception {
        switch (words[0]) {
            case "start":
                latch.start();
                return "started";
            case "close":
                latch.close(LeaderLatch.CloseMode.valueOf(words[2]));
                return "closed";
            case "awaitLeadership":
                return latch.await(Long.parseLong(words[2]), TimeUnit.MILLISECONDS) ? "leader" : "timeout";
            case "hasLeadership":
                return Boolean.toString(latch.hasLeadership());
            case "electionParticipants":
                return Participants.text(latch.getParticipants());
            case "leader":
                return latch.getLeader().getId();
            case "events":
                return String.join(" ", events);
            case "stand":
                return stand(Integer.parseInt(words[2]), words[3]);
            default:
                throw new IllegalArgumentException("No such command: " + words[0]);
        }
    }

    private String stand(int port, String name) throws Exception {
        try (Observer observer = new Observer(port)) {
            observer.tell("name " + name);
            latch.start();
            new Candidate(client, latch, observer).run();
        }
        return "closed";
    }
}
