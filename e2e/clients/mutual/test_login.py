"""What a client does not accept (RFC 8120 section 10.1), over no connection."""
import unittest
from email.message import Message

import exchange
import fields
import messages
from algorithms import ALGORITHMS
from login import ORIGIN, Broken, Login, Verdict
from place import place_of
from verifier import Verifier

ALGORITHM = ALGORITHMS['iso-kam3-ec-p256-sha256']
PLACE = place_of('http://example.com/')
REALM = {
    'algorithm': ALGORITHM.token,
    'validation': 'host',
    'auth-scope': 'example.com',
    'realm': 'r',
}
J = exchange.J(
    ALGORITHM, exchange.pi(ALGORITHM, 'secret', exchange.salt(ALGORITHM, 'example.com', 'r', 'john'))
)
NORMAL = (200, {})


class Wire:
    def vh(self, place):
        return place.vh


class Refusals(unittest.TestCase):
    def setUp(self):
        self.verifier = Verifier(ALGORITHM, REALM, {'john': J})
        self.login = Login(ORIGIN, Wire(), PLACE, 'john', 'secret', lambda *_, **__: None)
        self.login.begin()

    def ask(self):
        """What the server answers to what the client sends next: status and fields."""
        text = self.login.credentials().get('Authorization')
        user, field = self.verifier.answer(text, PLACE.vh)
        return (200, {'Authentication-Info': field}) if user else (401, {'WWW-Authenticate': field})

    def judge(self, answer):
        status, names = answer
        headers = Message()
        for name, value in names.items():
            headers[name] = value
        return self.login.judge(status, headers)

    def up_to(self, sent):
        """Goes on until the client is about to send this, and then gives its server's answer."""
        while self.login.next != sent:
            self.assertIs(self.judge(self.ask()), Verdict.AGAIN)
        return self.ask()

    def changed(self, answer, **values):
        """The same answer with other values."""
        status, names = answer
        (name, text), = names.items()
        parameters = fields.info(text) if 'Info' in name else fields.credentials(text)[1]
        _, found = messages.read(parameters, 'response', ALGORITHM)
        found |= {each.replace('_', '-'): value for each, value in values.items()}
        prefix = '' if 'Info' in name else 'Mutual '
        return status, {name: prefix + messages.write(ALGORITHM, found)}

    def breaks(self, answer):
        with self.assertRaises(Broken):
            self.judge(answer)

    def test_all_goes_well(self):
        self.assertIs(self.judge(self.up_to('req-VFY-C')), Verdict.SUCCEED)

    def test_a_normal_response_is_for_the_first_request(self):
        self.assertIs(self.judge(NORMAL), Verdict.UNAUTHENTICATED)
        self.login.begin()
        self.up_to('req-KEX-C1')
        self.breaks(NORMAL)

    def test_a_normal_response_in_place_of_the_proof(self):
        self.up_to('req-VFY-C')
        self.breaks(NORMAL)

    def test_a_server_error_without_a_proof(self):
        self.up_to('req-VFY-C')
        self.assertIs(self.judge((503, {})), Verdict.UNAUTHENTICATED)

    def test_a_wrong_proof(self):
        self.breaks(self.changed(self.up_to('req-VFY-C'), vks=bytes(32)))
        self.assertIsNone(self.login.session)

    def test_a_proof_for_another_session(self):
        self.breaks(self.changed(self.up_to('req-VFY-C'), sid=bytes(16)))

    def test_a_proof_in_a_challenge(self):
        _, names = self.up_to('req-VFY-C')
        self.breaks((401, {'WWW-Authenticate': f"Mutual {names['Authentication-Info']}"}))

    def test_a_proof_that_nobody_asked_for(self):
        self.ask()
        self.breaks((200, {'Authentication-Info': f'version=1, sid=00, vks={"00" * 32}'}))

    def test_an_element_that_is_none(self):
        # x = q is no coordinate.
        none = (2 * ALGORITHM.group.q).to_bytes(33, 'big')
        self.breaks(self.changed(self.up_to('req-KEX-C1'), ks1=none))

    def test_an_exchange_in_another_realm(self):
        self.breaks(self.changed(self.up_to('req-KEX-C1'), realm='other'))

    def test_an_exchange_that_nobody_asked_for(self):
        exchanged = self.up_to('req-KEX-C1')
        self.login.begin()
        self.breaks(exchanged)

    def test_another_realm_after_the_first_request(self):
        initial = self.ask()
        self.up_to('req-KEX-C1')
        self.breaks(self.changed(initial, realm='other'))

    def test_a_second_realm_does_not_get_the_password(self):
        initial = self.ask()
        self.judge(self.up_to('req-VFY-C'))
        self.login.begin()
        self.assertIs(self.judge(self.changed(initial, realm='other')), Verdict.REQUIRED)

    def test_stale_right_after_an_exchange(self):
        initial = self.ask()
        self.up_to('req-VFY-C')
        self.breaks(self.changed(initial, reason='stale-session'))

    def test_another_validation_or_scope(self):
        for change in (
            {'validation': 'tls-server-end-point'},
            {'validation': 'tls-unique'},
            {'auth_scope': 'example.org'},
        ):
            with self.subTest(change):
                self.login.begin()
                self.breaks(self.changed(self.ask(), **change))

    def test_two_challenges(self):
        status, names = self.ask()
        self.breaks((status, {'WWW-Authenticate': ', '.join([names['WWW-Authenticate']] * 2)}))

    def test_a_nonce_number_beyond_nc_max_is_not_sent(self):
        self.verifier.nc_max = 0
        self.judge(self.up_to('req-VFY-C'))
        self.login.begin()
        self.assertEqual(self.login.next, 'req-KEX-C1')


if __name__ == '__main__':
    unittest.main()
