import type { Notes } from '../note.ts';
import { BASIC_NOTES } from './basic.ts';
import { CONCEALED_NOTES } from './concealed.ts';
import { DIGEST_NOTES } from './digest.ts';
import { GNAP_NOTES } from './gnap.ts';
import { HOBA_NOTES } from './hoba.ts';
import { MUTUAL_NOTES } from './mutual.ts';
import { OAUTH_NOTES } from './oauth.ts';
import { PRIVATE_TOKEN_NOTES } from './private-token.ts';
import { SCRAM_NOTES } from './scram.ts';
import { VAPID_NOTES } from './vapid.ts';

/** Notes on the parameters of challenges and credentials, by the scheme in lower case. */
export const SCHEME_NOTES: Readonly<Record<string, Notes>> = {
  basic: BASIC_NOTES,
  digest: DIGEST_NOTES,
  bearer: OAUTH_NOTES,
  dpop: OAUTH_NOTES,
  gnap: GNAP_NOTES,
  hoba: HOBA_NOTES,
  concealed: CONCEALED_NOTES,
  mutual: MUTUAL_NOTES,
  privatetoken: PRIVATE_TOKEN_NOTES,
  'scram-sha-256': SCRAM_NOTES,
  'scram-sha-1': SCRAM_NOTES,
  vapid: VAPID_NOTES,
};
