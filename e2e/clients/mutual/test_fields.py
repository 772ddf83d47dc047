"""The grammar of fields, values and messages (RFC 8120 sections 3 and 4), and what follows from a place."""
import unittest

import fields
import messages
import preparation
from algorithms import ALGORITHMS
from inputs import EDGES, PLAIN, PROXY, UNICODE
from place import place_of
from values import Base64FixedNumber, ExtensiveToken, HexFixedNumber, Integer, Malformed, String

P256 = ALGORITHMS['iso-kam3-ec-p256-sha256']
INIT = 'version=1, algorithm=iso-kam3-ec-p256-sha256, validation=host, realm="r", reason=initial'


class Values(unittest.TestCase):
    def refuses(self, kind, *refused):
        for octets in refused:
            with self.subTest(octets), self.assertRaises(Malformed):
                kind.read(octets)

    def test_tokens(self):
        self.assertEqual(ExtensiveToken.read(b'ISO-KAM3-EC-P256-SHA256'), P256.token)
        self.assertEqual(ExtensiveToken.read(b'-x.Example.com'), '-x.example.com')
        self.refuses(ExtensiveToken, b'', b'-x', b'x.y', b'_x', b'a b', b'-x.', 'é'.encode())

    def test_integers(self):
        self.assertEqual(Integer.read(b'0'), 0)
        self.assertEqual(Integer.read(b'18446744073709551617'), 2**64 + 1)
        self.assertGreater(Integer.read(b'9' * 5000), 2**2000)
        self.refuses(Integer, b'', b'00', b'01', b'-1', b'+1', b'1.0', b' 1', '١'.encode())

    def test_hexadecimal_numbers(self):
        self.assertEqual(HexFixedNumber.read(b'00Ff'), b'\x00\xff')
        self.refuses(HexFixedNumber, b'', b'0', b'0g', b'0x00', b'00 00')

    def test_base64_numbers(self):
        self.assertEqual(Base64FixedNumber.read(b'AP8='), b'\x00\xff')
        self.refuses(Base64FixedNumber, b'', b'AP8', b'AP9=', b'AP8==', b'A-_=', b'AP 8=', b'AP8=AP8=')

    def test_strings(self):
        self.assertEqual(String.read('é'.encode()), 'é')
        self.refuses(String, b'\xff', b'\xc3"', b'\xef\xbb\xbfx')

    def test_extended_parameters_of_section_3_1(self):
        self.assertEqual(String.write('user', 'Renee of France'), 'user="Renee of France"')
        self.assertEqual(
            # The RFC's own example has %C3%89, which is the capital letter.
            String.write('user', 'Renée of France'), "user*=UTF-8''Ren%C3%A9e%20of%20France"
        )
        self.assertEqual(fields.info("user*=utf-8''Ren%c3%a9e")['user'], 'Renée'.encode())
        for refused in (
            "user*=UTF-8''John",
            "user*=UTF-8'fr'Ren%C3%A9e",
            "user*=ISO-8859-1''Ren%E9e",
            "user*=UTF-8''%C3%A9%4",
            "user*=\"UTF-8''Ren%C3%A9e\"",
            "realm*=UTF-8''R%C3%A4ume",
            "user=x, user*=UTF-8''Ren%C3%A9e",
        ):
            with self.subTest(refused), self.assertRaises(Malformed):
                fields.info(refused)


class Challenges(unittest.TestCase):
    def test_several_in_one_field(self):
        self.assertEqual(
            fields.challenges('Basic realm="a, Mutual b=c", , mutual x=1 ,y = "\\"",Negotiate, Other a/+b=='),
            [
                ('basic', {'realm': b'a, Mutual b=c'}),
                ('mutual', {'x': b'1', 'y': b'"'}),
                ('negotiate', {}),
                ('other', {}),
            ],
        )

    def test_malformed_ones(self):
        for text in ('Mutual a="b', 'Mutual a=b c=d', 'a=b', 'Mutual a=b, A=c', 'Mutual a="\x00"', 'Mutual a=b"'):
            with self.subTest(text), self.assertRaises(Malformed):
                fields.challenges(text)

    def test_an_info_has_no_scheme(self):
        with self.assertRaises(Malformed):
            fields.info('Mutual version=1, sid=00, vks=00')


class Messages(unittest.TestCase):
    def read(self, text, direction='response'):
        return messages.read(fields.info(text), direction)

    def test_quoted_or_not_and_unknown_parameters(self):
        name, values = self.read(INIT.replace('=1', '="1"').replace('="r"', '=r') + ', more=x')
        self.assertEqual(name, '401-INIT')
        self.assertEqual(values['realm'], 'r')
        self.assertNotIn('more', values)

    def test_refusals(self):
        kc1 = f'{INIT.replace("reason=initial", "user=x, kc1=")}'
        proof = f'version=1, sid=00, vks={"00" * 32}'
        for direction, text in (
            ('response', INIT.replace('version=1, ', '')),
            ('response', INIT.replace('version=1', 'version=2')),
            ('response', INIT + ', ks1=00'),
            ('response', INIT + ', vkc=00'),
            ('response', INIT + ', kc2=00'),
            ('response', INIT.replace('reason', 'reasons')),
            ('response', proof),
            ('request', INIT),
            ('request', kc1 + '00' * 32),
            ('request', kc1 + '00' * 34),
            ('request', kc1 + '00' * 33 + ', vkc=00'),
            ('request', kc1.replace('p256', 'p257') + '00' * 33),
        ):
            with self.subTest(text), self.assertRaises(Malformed):
                self.read(text, direction)
        self.assertEqual(self.read(kc1 + '00' * 33, 'request')[0], 'req-KEX-C1')
        self.assertEqual(messages.read(fields.info(proof), 'response', P256)[0], '200-VFY-S')


class Places(unittest.TestCase):
    def test_vh_always_has_the_port(self):
        self.assertEqual(place_of('http://Example.com/x').vh, b'http://example.com:80')
        self.assertEqual(place_of('https://[::1]:8443').vh, b'https://[::1]:8443')

    def test_auth_scope(self):
        place = place_of('https://www.example.com:443/x')
        for scope in ('www.example.com', 'https://www.example.com', '*.www.example.com', '*.example.com'):
            self.assertTrue(place.within(scope), scope)
        for scope in (
            *('example.com', 'https://www.example.com:443', 'http://www.example.com', 'WWW.example.com', ''),
            *('*.com', '*.', '*', '*.w.example.com', '*example.com', '*.ww.example.com', 'www.example.com:443'),
        ):
            self.assertFalse(place.within(scope), scope)
        self.assertFalse(place_of('http://127.0.0.1').within('*.0.1'))


class Preparation(unittest.TestCase):
    def test_user_names(self):
        self.assertEqual(preparation.username('Rene\u0301e'), 'Ren\u00e9e')
        self.assertEqual(preparation.username('\uff21b'), 'Ab')
        for refused in ('', 'Renee of France', 'a\u0000', '\ufb01', '\U0001f511'):
            with self.subTest(refused), self.assertRaises(preparation.Unprepared):
                preparation.username(refused)

    def test_passwords(self):
        self.assertEqual(preparation.password('\u00c5\u00a0A\u030a \uff21'), '\u00c5 \u00c5 \uff21')
        for refused in ('', 'a\u0000', '\ue000'):
            with self.subTest(refused), self.assertRaises(preparation.Unprepared):
                preparation.password(refused)

    def test_what_the_vectors_start_from_is_prepared(self):
        for given in (PLAIN, UNICODE, EDGES, PROXY):
            self.assertEqual(preparation.username(given['user']), given['user'])
            self.assertEqual(preparation.password(given['password']), given['password'])


if __name__ == '__main__':
    unittest.main()
