import type { CDPSession, Page } from 'playwright-core';

/** A passkey as an authenticator of Chromium keeps it (DevTools protocol, WebAuthn.Credential). */
export interface Credential {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly privateKey: string;
  readonly signCount: number;
  readonly rpId?: string;
  readonly userHandle?: string;
}

/** An authenticator that Chromium has in place of the one of a device. */
export interface VirtualAuthenticator {
  readonly credentials: () => Promise<readonly Credential[]>;
  readonly add: (credential: Credential) => Promise<void>;
  /** Whether its owner shows a finger, and the right one. */
  readonly answers: (answers: boolean) => Promise<void>;
}

/** Gives a page an authenticator that keeps passkeys and verifies its owner. */
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
