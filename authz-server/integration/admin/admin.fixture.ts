import supertest from 'supertest';
import { APP, basic, SECRET, type TestAuthz, testAuthz } from '../authz.fixture.ts';

const often = { burst: 100_000, per: 1 };

/** An authorization server, and a machine that may administer it. */
export interface TestAdmin {
  readonly authz: TestAuthz;
  /** Requests a reading operation over HTTP, by its name and a query. */
  read(operation: string): supertest.Test;
  /** Requests a changing operation. */
  change(operation: string, content?: object): supertest.Test;
}

export async function testAdmin(): Promise<TestAdmin> {
  const authz = await testAuthz({ limits: { address: often, account: often } });
  const machine = { ...APP, client_id: 'admin', scope: 'admin admin:read', admin: true };
  await authz.stores.clients.add(machine);
  const resource = `${authz.config.issuer}/admin/api`;
  const form = { grant_type: 'client_credentials', scope: 'admin', resource };
  const { body } = await authz.post('/token', form, basic('admin', SECRET));
  const authorization = `Bearer ${String(body['access_token'])}`;
  const path = (operation: string) => `/admin/api/${operation}`;
  return {
    authz,
    read: (operation) =>
      supertest(authz.url).get(path(operation)).set('Authorization', authorization),
    change: (operation, content = {}) =>
      supertest(authz.url).post(path(operation)).set('Authorization', authorization).send(content),
  };
}
