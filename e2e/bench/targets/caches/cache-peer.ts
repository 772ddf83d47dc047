/** A cache that somebody else wrote, before an origin: it obeys what the answers say, and gives nothing a time of its own. */
export interface CachePeer {
  /** Origin. */
  readonly upstream: string;
  /** Of its own, made by `openFolder`: takes its configuration, its logs and what it keeps. */
  readonly folder: string;
}
