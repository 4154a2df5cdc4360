import { readConfig } from './infra/config.ts'
import { ownSecrets } from './infra/local-installation.ts'
import { runProcess } from './infra/process.ts'

const demoDefaults = {
  ENVIRONMENT: 'test',
  DELIVERY_ALLOWED_HOSTS: '127.0.0.1',
  DELIVERY_ALLOW_HTTP: 'true',
  LOG_LEVEL: 'warn',
}

// The roles are loaded once its words and settings were read: who asks for help, or has to correct a setting, does not
// wait for that.
runProcess('Coverstream', async (signal) => {
  const { DATA_DIR, ENVIRONMENT } = readConfig(process.env, demoDefaults)
  const secrets = await ownSecrets(DATA_DIR)
  const config = readConfig(process.env, { ...(ENVIRONMENT === 'test' && demoDefaults), ...secrets })
  const { startOneProcess } = await import('./one-process.ts')
  return startOneProcess({ config, secrets }, signal)
})
