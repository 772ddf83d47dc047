import { afterAll, beforeAll } from '@jest/globals';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { recordedContract } from '../contract/audit/recorded.ts';
import { storesContract } from '../contract/index.ts';
import { postgresUnderTest } from './under-test.ts';

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

storesContract('postgres', () => postgresUnderTest(postgres));

/** The first of three rows of the audit log fails with 40001, also when it is written again: a sequence is not rolled back. */
const FAILING = `
  CREATE SEQUENCE tries;
  CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('tries') % 3 = 1 THEN RAISE serialization_failure; END IF;
      RETURN NEW;
    END $$;
  CREATE TRIGGER failing BEFORE INSERT ON audit_open FOR EACH ROW EXECUTE FUNCTION fail();`;

storesContract(
  'postgres, where transactions have to run again',
  () => postgresUnderTest(postgres, { more: FAILING }),
  [recordedContract],
);
