import type { Adapter } from 'oidc-provider';
import { orTemporarilyUnavailable } from '../../base/errors.ts';

/** A store that cannot answer is an error of the server (503), never "no such thing". */
export function failingClosed(adapter: Adapter): Adapter {
  const guarded =
    <A extends unknown[], R>(verb: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      orTemporarilyUnavailable(verb(...args));
  return {
    upsert: guarded(adapter.upsert),
    find: guarded(adapter.find),
    findByUid: guarded(adapter.findByUid),
    findByUserCode: guarded(adapter.findByUserCode),
    destroy: guarded(adapter.destroy),
    consume: guarded(adapter.consume),
    revokeByGrantId: guarded(adapter.revokeByGrantId),
  };
}
