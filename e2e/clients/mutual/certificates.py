"""Certificates for tls-server-end-point, made once with `openssl req -x509`; nothing but their octets matters."""
import base64

CERTIFICATES = {
    name: base64.b64decode(text)
    for name, text in {
        'ecdsa-with-SHA1': """
            MIIBgTCCASigAwIBAgIUTtjMCKg/k0FVxxbJhRl2edXCj6gwCQYHKoZIzj0EATAXMRUwEwYDVQQDDAxzaGExLmV4YW1wbGUw
            HhcNMjYxMTIyMDcyNjA2WhcNMzYxMTE5MDcyNjA2WjAXMRUwEwYDVQQDDAxzaGExLmV4YW1wbGUwWTATBgcqhkjOPQIBBggq
            hkjOPQMBBwNCAARNNeDYBDGt5F/MH5MokC+qCa/dUJzQp+6Eoyw9WXrSvX2jjwHZtCiJ7BfyQ5XH7dYg2wmdDMDKaupjAAYB
            mbcio1MwUTAdBgNVHQ4EFgQUhw+0Kz9gPVKJnutJkQnPtFC62GMwHwYDVR0jBBgwFoAUhw+0Kz9gPVKJnutJkQnPtFC62GMw
            DwYDVR0TAQH/BAUwAwEB/zAJBgcqhkjOPQQBA0gAMEUCIQDmk8VLQf+oLeoMtbXfYuzKVMVz14QqTyw9UUZiC8PhkQIgNITv
            kYkLwpmB7w9XgY05jSWwB3zRTMbtag2pNyQNQyo=
        """,
        'ecdsa-with-SHA256': """
            MIIBhzCCAS2gAwIBAgIUWhJZ5KUiJcfae4diMaeGGwzOsUkwCgYIKoZIzj0EAwIwGTEXMBUGA1UEAwwOc2hhMjU2LmV4YW1w
            bGUwHhcNMjYxMTIyMDcyNjA2WhcNMzYxMTE5MDcyNjA2WjAZMRcwFQYDVQQDDA5zaGEyNTYuZXhhbXBsZTBZMBMGByqGSM49
            AgEGCCqGSM49AwEHA0IABP6kK54eL5O47BVTzQoeP1yrpSml4HFGNsyiVFUp2cPV27kY4nQF7+zxYePJq7Sn5sK5BrqpeThi
            H7W4th+/f5mjUzBRMB0GA1UdDgQWBBQIMPubhm2VQSQ3dFdwoIz8vnPQUTAfBgNVHSMEGDAWgBQIMPubhm2VQSQ3dFdwoIz8
            vnPQUTAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQCZOcAu3RJiJwnHpATgYjAYYcXfTTI+FZWOfqiReV3W
            igIgLwmXPKgfLpQEHoRY9MepqXmlyVOK5vTN6GjD3aKrRdc=
        """,
        'ecdsa-with-SHA384': """
            MIIBhjCCAS2gAwIBAgIUJADSaXDXnyYcF2Ghkg242a58CMIwCgYIKoZIzj0EAwMwGTEXMBUGA1UEAwwOc2hhMzg0LmV4YW1w
            bGUwHhcNMjYxMTIyMDcyNjA2WhcNMzYxMTE5MDcyNjA2WjAZMRcwFQYDVQQDDA5zaGEzODQuZXhhbXBsZTBZMBMGByqGSM49
            AgEGCCqGSM49AwEHA0IABJ0XRF2DHQu1Yabc9LYPUwZUmo9X95SDy24Uv6gnnZu6EqKBsKU+UDutOHilnlF0aGYg2dHTdivG
            FFXhWDjlyUejUzBRMB0GA1UdDgQWBBQXpI6B7h8zHxpyeIXNHecfVareKzAfBgNVHSMEGDAWgBQXpI6B7h8zHxpyeIXNHecf
            VareKzAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMDA0cAMEQCIAsGUZtF2qvxp0PeOdDB0bsfUJqMYUhRQFl0gFKpAnUm
            AiBbWrvmg1oySDH1I34CeuwSc5cpayy4cfvD4jwkBGHNZA==
        """,
    }.items()
}
