package interop;

import java.util.Collection;
import java.util.stream.Collectors;
import org.apache.curator.framework.recipes.leader.Participant;

/** Who stands for an election, in one line. */
class Participants {
    private Participants() {}

    /** <code>id=true</code> of the leader, <code>id=false</code> of all others, in their order. */
    static String text(Collection<Participant> participants) {
        return participants.stream()
                .map(participant -> participant.getId() + "=" + participant.isLeader())
                .collect(Collectors.joining(" "));
    }
}
