import { proposalSecretsFold } from '../domain/approvals/record.ts'
import { integrationsFold, noIntegrations } from '../domain/custom-integrations/record.ts'
import { signingSecretsFold } from '../domain/integrations/record.ts'
import { paymentAccountsFold } from '../domain/payment-accounts/record.ts'
import { providerAccountsFold } from '../domain/provider-accounts/record.ts'
import { signInProvidersFold } from '../domain/sign-in/record.ts'
import { sealedSecretsOf, type SealedSecret } from '../domain/sealed-secrets.ts'
import { BadConfiguration, readConfig } from '../infra/config.ts'
import { makeLiveFolds } from '../infra/consumers/live-folds.ts'
import { makeProgress } from '../infra/consumers/progress.ts'
import { checkInstallation } from '../infra/installation.ts'
import { deriveKeys } from '../infra/crypto/keys.ts'
import { command, keysCommand } from '../infra/crypto/keys-command.ts'
import { checkMasterKeys } from '../infra/crypto/master-keys.ts'
import type { EventLog } from '../infra/event-log/event-log.ts'
import { readOwnSecrets, runningClusterUrl } from '../infra/local-installation.ts'
import { makeLog } from '../infra/log.ts'
import { logIsHere, openEventLog } from '../infra/role-parts.ts'
import { prepareLog } from '../infra/event-log/postgres/schema.ts'
import { migrate } from '../infra/postgres/migrations.ts'
import { createPool } from '../infra/postgres/postgres.ts'
import { checkSessions } from '../infra/postgres/session.ts'
import { runProcess } from '../infra/process.ts'
import { waitForStore } from '../infra/wait-for-store.ts'

const [, , ...words] = process.argv

/** The secrets that lie in events and are in use: the log is read for them from its beginning. */
const secretsInUse = async (eventLog: EventLog, signal: AbortSignal): Promise<readonly SealedSecret[]> => {
  const { follow } = makeLiveFolds({ eventLog, signal, log: makeLog('error', 'keys'), progress: makeProgress() })
  const [providerAccounts, paymentAccounts, integrations, signInProviders, proposalSecrets, signingSecrets] =
    await Promise.all([
      follow(providerAccountsFold, new Map()),
      follow(paymentAccountsFold, new Map()),
      follow(integrationsFold, noIntegrations()),
      follow(signInProvidersFold, new Map()),
      follow(proposalSecretsFold, new Map()),
      follow(signingSecretsFold, new Map()),
    ])
  // Stopped before all was read: what was read says nothing.
  signal.throwIfAborted()
  const known = { providerAccounts, paymentAccounts, integrations, signInProviders, proposalSecrets, signingSecrets }
  return sealedSecretsOf(known, new Date().toISOString())
}

runProcess(
  'keys',
  async (signal) => {
    const secrets = await readOwnSecrets(readConfig(process.env).DATA_DIR)
    const config = readConfig(process.env, secrets)
    const { DATABASE_URL, DATA_DIR, MASTER_KEY, MASTER_KEYS_EARLIER } = config
    if (MASTER_KEY === undefined) throw new BadConfiguration('MASTER_KEY: must be set')
    const url = DATABASE_URL === 'embedded' ? await runningClusterUrl(DATA_DIR) : DATABASE_URL
    const pool = createPool(url, { max: 2, name: 'coverstream keys' })
    const keys = deriveKeys(MASTER_KEY, MASTER_KEYS_EARLIER)
    const prepare = async () => {
      await checkSessions(pool)
      await migrate(pool)
      await prepareLog(pool)
      await checkMasterKeys(pool, keys)
    }
    await waitForStore({ variable: 'DATABASE_URL', url }, prepare, { log: makeLog('warn', 'keys'), signal })
    const eventLog = await openEventLog(config, url)
    await checkInstallation({ pool, keys, storedLog: eventLog, isLogHere: logIsHere(config) })
    const parts = { pool, keys, signal, secretsInUse: () => secretsInUse(eventLog, signal) }
    const code = await keysCommand(words, parts, process.stdout)
    process.exit(code)
  },
  command,
)
