/** A cache that somebody else wrote, before an origin: it obeys what the answers say, and gives nothing a time of its own. */
export interface CachePeer {
  /** Origin. */
  readonly upstream: string;
  /** A folder of its own, made by `openFolder`, for its configuration, its logs and its answers. */
  readonly folder: string;
}
