/** bare-privacypass.ts with the other arithmetic of the library, which has to be chosen before it is loaded. */
import { Oprf } from '@cloudflare/voprf-ts';
import { CryptoNoble } from '@cloudflare/voprf-ts/crypto-noble';

Oprf.Crypto = CryptoNoble;
await import('./bare-privacypass.ts');
