import type { IssuerKey } from '../issuer-key.ts';

/** The tokens that a server lets in which somebody else wrote: signed by ES256, and not expired. */
export interface VerdictPeer {
  readonly key: IssuerKey;
  readonly issuer: string;
  readonly audience: string;
  readonly scope: string;
  /** A folder of its own, made by `openFolder`, for its configuration, the key and its log. */
  readonly folder: string;
}
