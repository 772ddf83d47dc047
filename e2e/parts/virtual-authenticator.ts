import type { CDPSession, Page } from 'playwright-core';

/** A passkey as Chromium's authenticator stores it (DevTools protocol, WebAuthn.Credential). */
export interface Credential {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly privateKey: string;
  readonly signCount: number;
  readonly rpId?: string;
  readonly userHandle?: string;
  /** The name of the account, which the authenticator shows. */
  readonly userName?: string;
}

/** A virtual authenticator of Chromium, in place of a device's. */
export interface VirtualAuthenticator {
  readonly credentials: () => Promise<readonly Credential[]>;
  readonly add: (credential: Credential) => Promise<void>;
  /** Whether the owner touches the authenticator and is verified. */
  readonly answers: (answers: boolean) => Promise<void>;
}

/** Gives a page an authenticator that stores passkeys and verifies its owner. */
export async function virtualAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const cdp: CDPSession = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    credentials: async () =>
      (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
    add: async (credential) => {
      await cdp.send('WebAuthn.addCredential', { authenticatorId, credential });
    },
    answers: async (isUserVerified) => {
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
  };
}
