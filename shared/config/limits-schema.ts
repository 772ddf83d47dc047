import * as z from 'zod';
import { rate } from '#shared/base/members.ts';

/** The setting `limits`: the rates at which clients, addresses and accounts may ask. */
export const limitsSchema = z
  .strictObject({
    client: rate
      .default({ burst: 200, per: 0.02 })
      .describe(
        'Token requests of one authenticated client, its assertions at any endpoint, and its requests of GNAP.',
      ),
    address: rate.default({ burst: 1000, per: 0.005 }).describe('Token requests of one address.'),
    visits: rate
      .default({ burst: 500, per: 0.5 })
      .describe(
        'Records that an anonymous client at one address may make in the store: begun sign-ins, callbacks of sign-ins, requests and device codes of public clients. Requests of clients that describe themselves are included, and their assertions until a person allows the client. It also limits the consents, revoked tokens and refresh tokens of one account.',
      ),
    allVisits: rate
      .default({ burst: 5000, per: 0.02 })
      .describe('The same for all addresses together.'),
    account: rate
      .default({ burst: 10, per: 20 })
      .describe(
        'Attempts to sign in with one name from browsers that have never signed in with it.',
      ),
    signIn: rate
      .default({ burst: 200, per: 0.5 })
      .describe('Attempts to sign in from one address.'),
    credentials: rate
      .default({ burst: 50, per: 10 })
      .describe(
        'Credentials of one account that the resource server checks, from addresses at which the account was not admitted recently.',
      ),
    exchanges: rate
      .default({ burst: 100, per: 1 })
      .describe('Key exchanges of Mutual from one address. Each is remembered for minutes.'),
    privateTokens: rate
      .default({ burst: 100, per: 864 })
      .describe(
        'Tokens for PrivateToken that one person gets through one client, or that one machine gets.',
      ),
    redemptions: rate
      .default({ burst: 200, per: 0.5 })
      .describe('PrivateToken credentials from one address that the resource server checks.'),
    verifications: rate
      .default({ burst: 1000, per: 0.005 })
      .describe('PrivateToken credentials that the issuer verifies for one resource server.'),
    secondFactor: rate
      .default({ burst: 5, per: 300 })
      .describe(
        'One-time codes that are tried for one person, from browsers in which they have used none before.',
      ),
    userCode: rate.default({ burst: 10, per: 60 }).describe('Device codes that one person enters.'),
  })
  .prefault({})
  .describe('Rate limits. Each counts across all workers and machines that share a store.');
