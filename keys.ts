import { BadConfiguration, readConfig } from './infra/config.ts'
import { deriveKeys } from './infra/crypto/keys.ts'
import { keysCommand } from './infra/crypto/keys-command.ts'
import { checkMasterKeys } from './infra/crypto/master-keys.ts'
import { readOwnSecrets, runningClusterUrl } from './infra/local-installation.ts'
import { migrate } from './infra/postgres/migrations.ts'
import { createPool } from './infra/postgres/postgres.ts'
import { runProcess } from './infra/process.ts'

const [, , ...command] = process.argv

runProcess('keys', async (signal) => {
  const secrets = await readOwnSecrets(readConfig(process.env).DATA_DIR)
  const { DATABASE_URL, DATA_DIR, MASTER_KEY, MASTER_KEYS_EARLIER } = readConfig({ ...secrets, ...process.env })
  if (MASTER_KEY === undefined) throw new BadConfiguration('MASTER_KEY: must be set')
  const url = DATABASE_URL === 'embedded' ? await runningClusterUrl(DATA_DIR) : DATABASE_URL
  const pool = createPool(url, { max: 2, name: 'coverstream keys' })
  const keys = deriveKeys(MASTER_KEY, MASTER_KEYS_EARLIER)
  await migrate(pool)
  await checkMasterKeys(pool, keys)
  const code = await keysCommand(command, { pool, keys, signal }, process.stdout)
  await pool.end()
  process.exit(code)
})
