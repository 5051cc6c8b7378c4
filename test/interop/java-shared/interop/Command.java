package interop;

/** What an actor does when it is told to. */
interface Command {
    /**
     * @param words the command and its arguments
     * @return the answer, a single line
     */
    String run(String[] words) throws Exception;
}
