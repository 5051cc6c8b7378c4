/** The running ZooKeeper servers that `ZOOKEEPER_CONNECT` names for the contract tests, if it is set. */
export function externalConnectString(): string | undefined {
  return process.env.ZOOKEEPER_CONNECT || undefined;
}
