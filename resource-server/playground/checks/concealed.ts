import { sameBytes } from '#shared/base/constant-time.ts';
import {
  covered,
  EXPORTED,
  exporterContext,
  LABEL,
  splitExported,
} from '#shared/auth/schemes/concealed/signed.ts';
import type { Connection } from '../http1-message.ts';
import { checksOf } from '#shared/explain/checks.ts';
import { CONCEALED_STEPS, readShown, refusalOfId } from '#shared/explain/schemes/concealed.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import {
  type Checks,
  credentialsOf,
  ofCredentials,
  type Recorded,
  type RecordedMessage,
} from '../recorded.ts';

/** RFC 9729. The server tells nobody which of them failed (section 6.4). */
export const concealedChecks: Checks = ofCredentials(async (recorded) =>
  checksOf(CONCEALED_STEPS, await refusalOf(recorded)),
);

/** Returns what a server exports of the connection of a request. Undefined: its proof does not say of what. */
export function exportedFor(
  asked: RecordedMessage,
  url: string,
  { exporter }: Connection,
): Buffer | undefined {
  const shown = readShown(credentialsOf(asked));
  if ('refusal' in shown) return undefined;
  return exporter(LABEL, exporterContext({ ...shown.proof, url }), EXPORTED);
}

async function refusalOf({ asked, exported, publicKeys }: Recorded): Promise<Refusal | undefined> {
  const shown = readShown(credentialsOf(asked));
  if ('refusal' in shown) return shown;
  if (exported === undefined) return refuse('concealed-clear-text');
  const { proof, scheme, key } = shown;
  const { signatureInput, verification } = splitExported(exported);
  if (!scheme.verifies(covered(signatureInput), key.key, proof.signature)) {
    return refuse('concealed-p');
  }
  if (!sameBytes(proof.verification, verification)) return refuse('concealed-v');
  const other = refusalOfId(shown);
  if (other !== undefined) return other;
  const registered = await publicKeys.get(key.id);
  return registered?.scheme === 'Concealed' ? undefined : refuse('concealed-unknown');
}
