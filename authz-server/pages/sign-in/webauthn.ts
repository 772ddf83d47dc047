import { hash } from 'node:crypto';
import type { CredentialDeviceType } from '@simplewebauthn/server';
import type { PasskeyRecord } from '#shared/stores/credentials/passkeys.ts';
import type { Created, Used } from './credential.ts';

/** COSE algorithms: Ed25519, ES256, RS256 (WebAuthn section 5.8.5). */
export const ALGORITHMS = [-8, -7, -257] as const;

/** The origin and the challenge that an authenticator must have signed. */
export interface Expected {
  readonly challenge: string;
  readonly origin: string;
  readonly rpId: string;
}

/** The parts of a passkey that its authenticator decides. */
export type MadePasskey = Pick<
  PasskeyRecord,
  'id' | 'publicKey' | 'rpId' | 'counter' | 'backupEligible' | 'backedUp'
>;

/** A use whose signature is right. */
export interface ProvenUse {
  readonly counter: number;
  readonly backedUp: boolean;
}

/** Names a person for authenticators. It says nothing of them, and is the same for all their passkeys (WebAuthn section 14.6.1). */
export const userHandleOf = (accountId: string): string =>
  hash('sha256', `countersign passkey ${accountId}`, 'base64url');

// The library is loaded with the first passkey: few pages need it, and it would slow down every start.
const library = () => import('@simplewebauthn/server');
const helpers = () => import('@simplewebauthn/server/helpers');

/** The library lets `crossOrigin` pass where `topOrigin` is absent (sections 7.1 steps 10 and 11, 7.2 steps 10 and 11). */
async function refuseFramed({ response: { clientDataJSON } }: Created | Used): Promise<void> {
  const { decodeClientDataJSON } = await helpers();
  const { crossOrigin, topOrigin } = decodeClientDataJSON(clientDataJSON);
  if (crossOrigin || topOrigin !== undefined) {
    throw new Error('it was asked for in a frame of another origin, and ours are never framed');
  }
}

const isEligible = (type: CredentialDeviceType) => type === 'multiDevice';

/** Verifies a new passkey (WebAuthn section 7.1). Throws an error with the reason. */
export async function verifyCreated(
  response: Created,
  { challenge, origin, rpId }: Expected,
): Promise<MadePasskey> {
  await refuseFramed(response);
  const [{ verifyRegistrationResponse }, { decodeAttestationObject, isoBase64URL }] =
    await Promise.all([library(), helpers()]);
  const object = isoBase64URL.toBuffer(response.response.attestationObject);
  const attestation = decodeAttestationObject(object);
  // We ask for no attestation. With a chain of certificates the library would fetch the URLs in them.
  if (attestation.get('fmt') !== 'none') throw new Error('it has an attestation');
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: { ...response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: [...ALGORITHMS],
  });
  if (!verified) throw new Error('it is not verified');
  const { credential, credentialBackedUp: backedUp, credentialDeviceType: type } = registrationInfo;
  const publicKey = isoBase64URL.fromBuffer(credential.publicKey);
  const { id, counter } = credential;
  return { id, publicKey, rpId, counter, backupEligible: isEligible(type), backedUp };
}

/** Verifies a use of a passkey but for its counter (WebAuthn section 7.2). Throws an error with the reason. */
export async function verifyUsed(
  response: Used,
  passkey: PasskeyRecord,
  { challenge, origin, rpId }: Expected,
): Promise<ProvenUse> {
  await refuseFramed(response);
  if (passkey.rpId !== rpId) throw new Error(`it was made for ${passkey.rpId}`);
  const { userHandle, ...others } = response.response;
  // Step 6: nobody named a person before, so the authenticator must.
  if (userHandle !== userHandleOf(passkey.accountId)) throw new Error('its user handle is wrong');
  const { verifyAuthenticationResponse } = await library();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { ...response, response: { ...others, userHandle }, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
    // The store compares counters when it records the use, in one transaction.
    credential: {
      id: passkey.id,
      publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
      counter: 0,
    },
  });
  if (!verified) throw new Error('its signature is wrong');
  const { newCounter: counter, credentialBackedUp: backedUp } = authenticationInfo;
  // Step 17.
  if (isEligible(authenticationInfo.credentialDeviceType) !== passkey.backupEligible) {
    throw new Error('its backup eligibility is another than when it was made');
  }
  return { counter, backedUp };
}
