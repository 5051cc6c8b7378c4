import type { NativeHandle } from './native-handle.js';
import type { Reply, Request } from './transport.js';

/** Sends `request` by the driver's call for it; returns the code of that call, 0: sent. */
export function sendNative(handle: NativeHandle, request: Request, reply: Reply): number {
  switch (request.op) {
    case 'create':
      return handle.a_create(request.path, request.data, request.mode, (rc, _, path) =>
        reply(rc, path),
      );
    case 'delete':
      return handle.a_delete_(request.path, request.version, (rc) => reply(rc));
    case 'exists':
      return handle.a_exists(request.path, request.watch, (rc, _, stat) => reply(rc, stat));
    case 'getData':
      return handle.a_get(request.path, request.watch, (rc, _, stat, data) =>
        reply(rc, { stat, data: data ?? Buffer.alloc(0) }),
      );
    case 'setData':
      return handle.a_set(request.path, request.data, request.version, (rc, _, stat) =>
        reply(rc, stat),
      );
    case 'setAcl': {
      const acl = request.acl.map(({ perms, scheme, id }) => ({ perm: perms, scheme, auth: id }));
      return handle.a_set_acl(request.path, -1, acl, (rc) => reply(rc));
    }
    case 'getChildren':
      return handle.a_get_children(request.path, request.watch, (rc, _, names) => reply(rc, names));
    case 'sync':
      return handle.a_sync(request.path, (rc) => reply(rc));
  }
}
