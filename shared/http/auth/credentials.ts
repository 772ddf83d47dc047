import type { AuthParams } from './challenge.ts';

/** Credentials (RFC 9110 section 11.4). `scheme` in lower case: it is compared without regard to case. */
export interface Credentials {
  readonly scheme: string;
  /** All after the scheme and its spaces, as received. */
  readonly rest: string;
  readonly token68?: string;
  readonly params?: AuthParams;
}
