/** Replaces `shared/base/recent-map.ts`: every entry is dropped before the next request. */
export class RecentMap<V> extends Map<string, V> {
  constructor(_capacity: number) {
    super();
  }

  override set(key: string, value: V): this {
    setImmediate(() => this.delete(key));
    return super.set(key, value);
  }
}

export const remembering = <V>(of: (text: string) => V): ((text: string) => V) => of;
