import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

/** The options that a page gives to its script (WebAuthn sections 5.4 and 5.5). */
export interface Options {
  readonly challenge: string;
  readonly rp?: { readonly id: string };
  readonly rpId?: string;
  readonly user?: { readonly id: string };
}

/** The parts of an answer that an attacker changes. */
export interface Changed {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly userHandle?: string;
  readonly flags?: number;
  readonly counter?: number;
  readonly fmt?: string;
  readonly crossOrigin?: boolean;
  readonly topOrigin?: string;
}

/** Flags of authenticator data (WebAuthn section 6.1): the user was present, and was verified. */
export const PRESENT = 0x01;
export const VERIFIED = 0x04;
/** The passkey may be stored in more than one place, and is. */
export const ELIGIBLE = 0x08;
export const BACKED_UP = 0x10;
const HAS_KEY = 0x40;

const base64url = (octets: Uint8Array) => Buffer.from(octets).toString('base64url');
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();

/** Returns the options that the passkey button of a page has. */
export function optionsIn({ text }: { readonly text: string }): Options {
  const [, options = ''] = /data-options="([^"]*)"/.exec(text) ?? [];
  return JSON.parse(options.replaceAll('&quot;', '"')) as Options;
}

/** An authenticator in software, with one passkey: an elliptic key on P-256. */
export class Authenticator {
  readonly id = base64url(randomBytes(32));
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #origin: string;
  #userHandle = '';
  #rpId = '';
  counter = 0;

  constructor(origin: string) {
    this.#origin = origin;
  }

  get #publicKey(): KeyObject {
    return this.#keys.publicKey;
  }

  /** RegistrationResponseJSON. */
  create(options: Options, changed: Changed = {}): string {
    this.#userHandle = options.user?.id ?? '';
    this.#rpId = options.rp?.id ?? '';
    const { x = '', y = '' } = this.#publicKey.export({ format: 'jwk' });
    const key = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]);
    const id = Buffer.from(this.id, 'base64url');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const authData = Buffer.concat([
      this.#head(changed, HAS_KEY),
      Buffer.alloc(16),
      length,
      id,
      isoCBOR.encode(key),
    ]);
    const object = new Map<string, string | Uint8Array | Map<string, string>>([
      ['fmt', changed.fmt ?? 'none'],
      ['attStmt', new Map<string, string>()],
      ['authData', new Uint8Array(authData)],
    ]);
    return this.#answer({
      clientDataJSON: base64url(this.#clientData('webauthn.create', options, changed)),
      attestationObject: base64url(isoCBOR.encode(object)),
    });
  }

  /** AuthenticationResponseJSON. */
  get(options: Options, changed: Changed = {}): string {
    this.#rpId = options.rpId ?? '';
    const clientData = this.#clientData('webauthn.get', options, changed);
    const authenticatorData = this.#head(changed, 0);
    const signed = Buffer.concat([authenticatorData, sha256(clientData)]);
    return this.#answer({
      clientDataJSON: base64url(clientData),
      authenticatorData: base64url(authenticatorData),
      signature: base64url(sign('sha256', signed, this.#keys.privateKey)),
      userHandle: changed.userHandle ?? this.#userHandle,
    });
  }

  #head({ rpId = this.#rpId, flags = PRESENT | VERIFIED, counter }: Changed, more: number): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter ?? this.counter);
    return Buffer.concat([sha256(rpId), Buffer.of(flags | more), count]);
  }

  #clientData(type: string, options: Options, changed: Changed): Buffer {
    const { challenge = options.challenge, origin = this.#origin } = changed;
    const { crossOrigin = false, topOrigin } = changed;
    const told = { type: changed.type ?? type, challenge, origin, crossOrigin, topOrigin };
    return Buffer.from(JSON.stringify(told));
  }

  #answer(response: Readonly<Record<string, string>>): string {
    const common = { id: this.id, rawId: this.id, type: 'public-key' };
    return JSON.stringify({ ...common, response, clientExtensionResults: {} });
  }
}
