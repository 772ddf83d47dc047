import * as z from 'zod';
import { rate } from '#shared/base/members.ts';

/** The setting `limits`: the rates at which clients, addresses and accounts may ask. */
export const limitsSchema = z
  .strictObject({
    client: rate
      .default({ burst: 200, per: 0.02 })
      .describe(
        'Token requests of one authenticated client, assertions of the client at any endpoint, and GNAP requests of the client.',
      ),
    address: rate.default({ burst: 1000, per: 0.005 }).describe('Token requests of one address.'),
    visits: rate
      .default({ burst: 500, per: 0.5 })
      .describe(
        'Records in the store that anonymous clients at one address may cause: begun sign-ins, callbacks of sign-ins, pushed requests and device codes of public clients. The limit includes requests of clients with a document, and the assertions of such a client until a person allows the client. The same rate also limits the consents, revoked tokens and refresh tokens of one account.',
      ),
    allVisits: rate
      .default({ burst: 5000, per: 0.02 })
      .describe('Records as in `limits.visits`, from all addresses together.'),
    account: rate
      .default({ burst: 10, per: 20 })
      .describe(
        'Attempts to sign in with one name, from browsers in which that name has never signed in.',
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
      .describe(
        'Key exchanges of Mutual from one address. The server remembers each exchange for minutes.',
      ),
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
        'One-time codes that are tried for one person, from browsers in which the person has never used a code.',
      ),
    userCode: rate.default({ burst: 10, per: 60 }).describe('Device codes that one person enters.'),
  })
  .prefault({})
  .describe('Rate limits. Each limit applies to all workers and machines of a store together.');
