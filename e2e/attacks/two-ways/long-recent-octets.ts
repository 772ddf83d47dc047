/** Replaces `shared/base/recent-octets.ts`: nothing is ever cached. */
export class RecentOctets<V> {
  readonly octets = 0;

  get(_key: string): V | undefined {
    return undefined;
  }

  set(_key: string, _value: V, _length: number): void {}
}
