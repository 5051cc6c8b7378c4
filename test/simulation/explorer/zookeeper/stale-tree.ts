import { ZnodeTree } from '../../../../lib/embedded/znode-tree.js';
import { CreateMode } from '../../../../lib/zookeeper/connection/zookeeper-connection.js';
import type { Footprint } from '../footprint.js';

/** The tree as it is now, without watches: what a server that is cut off from the leader answers from. */
export function copyOf(tree: ZnodeTree, footprint: Footprint): ZnodeTree {
  const copy = new ZnodeTree(() => {});
  const add = (directory: string) => {
    footprint.reads(directory === '/' ? '//*' : `${directory}/*`);
    for (const name of tree.get(directory)!.children) {
      const path = `${directory === '/' ? '' : directory}/${name}`;
      footprint.reads(path);
      copyNode(path);
      add(path);
    }
  };
  const copyNode = (path: string) => {
    const node = tree.get(path)!;
    const { data, owner: sessionId, isEphemeral, isContainer, acl } = node;
    const lasting = isContainer ? CreateMode.CONTAINER : CreateMode.PERSISTENT;
    const mode = isEphemeral ? CreateMode.EPHEMERAL : lasting;
    const { czxid, mzxid, version } = node.stat();
    copy.insert(path, { data, mode, zxid: czxid, sessionId, acl });
    for (let changes = 0; changes < version; changes++) copy.setData(path, data, mzxid);
  };
  add('/');
  return copy;
}
