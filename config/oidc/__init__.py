"""Single sign-on by OpenID Connect, if settings name a provider: the code flow with PKCE, state and nonce."""
