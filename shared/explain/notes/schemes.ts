import type { Notes } from '../note.ts';
import { BASIC_NOTES } from './basic.ts';
import { DIGEST_NOTES } from './digest.ts';
import { OAUTH_NOTES } from './oauth.ts';
import { SCRAM_NOTES } from './scram.ts';

/** Notes on the parameters of challenges and credentials, by the scheme in lower case. */
export const SCHEME_NOTES: Readonly<Record<string, Notes>> = {
  basic: BASIC_NOTES,
  digest: DIGEST_NOTES,
  bearer: OAUTH_NOTES,
  dpop: OAUTH_NOTES,
  'scram-sha-256': SCRAM_NOTES,
  'scram-sha-1': SCRAM_NOTES,
};
