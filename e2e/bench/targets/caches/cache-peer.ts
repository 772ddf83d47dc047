/**
 * A third-party cache in front of an origin: it obeys the answers' fields, and has no default freshness.
 */
export interface CachePeer {
  /** The origin. */
  readonly upstream: string;
  /** An empty folder, made by `openFolder`, for configuration, logs and answers. */
  readonly folder: string;
}
