import type { IssuerKey } from '../issuer-key.ts';

/** The tokens that a third-party server admits: signed by ES256, and not expired. */
export interface VerdictPeer {
  readonly key: IssuerKey;
  readonly issuer: string;
  readonly audience: string;
  readonly scope: string;
  /** An empty folder, made by `openFolder`, for configuration, key and log. */
  readonly folder: string;
}
