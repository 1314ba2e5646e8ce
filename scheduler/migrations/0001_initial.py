import django.contrib.postgres.functions
import django.db.models.deletion
import django.db.models.functions.datetime
import jobs.ids
import scheduler.steps.models
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('jobs', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Beat',
            fields=[
                ('name', models.CharField(max_length=200, primary_key=True, serialize=False, verbose_name='name')),
                ('seen_at', models.DateTimeField(verbose_name='last seen at')),
            ],
            options={
                'verbose_name': 'beat',
                'verbose_name_plural': 'beats',
                'db_table': 'beats',
            },
        ),
        migrations.CreateModel(
            name='BeatLeader',
            fields=[
                ('name', models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name='name')),
                ('holder', models.CharField(max_length=200, verbose_name='beat')),
                ('since', models.DateTimeField(verbose_name='since')),
                ('leads_until', models.DateTimeField(verbose_name='leads until')),
            ],
            options={
                'verbose_name': 'leading beat',
                'verbose_name_plural': 'leading beat',
                'db_table': 'beat_leader',
            },
        ),
        migrations.CreateModel(
            name='Minute',
            fields=[
                ('minute', models.DateTimeField(primary_key=True, serialize=False, verbose_name='minute')),
                ('done', models.PositiveIntegerField(verbose_name='succeeded')),
                ('failed', models.PositiveIntegerField(verbose_name='failed')),
                ('wait_p50_ms', models.PositiveBigIntegerField(null=True, verbose_name='wait (ms, p50)')),
                ('run_p50_ms', models.PositiveBigIntegerField(null=True, verbose_name='duration (ms, p50)')),
                ('queued', models.PositiveIntegerField(null=True, verbose_name='queued')),
                ('wait_ms', models.PositiveBigIntegerField(null=True, verbose_name='wait (ms, p95)')),
                ('run_ms', models.PositiveBigIntegerField(null=True, verbose_name='duration (ms, p95)')),
            ],
            options={
                'verbose_name': 'minute statistics',
                'verbose_name_plural': 'minute statistics',
                'db_table': 'execution_minutes',
            },
        ),
        migrations.CreateModel(
            name='RoleMinute',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('done', models.PositiveIntegerField(verbose_name='succeeded')),
                ('failed', models.PositiveIntegerField(verbose_name='failed')),
                ('wait_p50_ms', models.PositiveBigIntegerField(null=True, verbose_name='wait (ms, p50)')),
                ('run_p50_ms', models.PositiveBigIntegerField(null=True, verbose_name='duration (ms, p50)')),
                ('queued', models.PositiveIntegerField(null=True, verbose_name='queued')),
                ('wait_ms', models.PositiveBigIntegerField(null=True, verbose_name='wait (ms, p95)')),
                ('run_ms', models.PositiveBigIntegerField(null=True, verbose_name='duration (ms, p95)')),
                ('role', models.CharField(max_length=64, verbose_name='role')),
                ('minute', models.DateTimeField(verbose_name='minute')),
            ],
            options={
                'verbose_name': 'minute statistics of a role',
                'verbose_name_plural': 'minute statistics of roles',
                'db_table': 'role_minutes',
                'constraints': [models.UniqueConstraint(fields=('role', 'minute'), name='role_minutes_once')],
            },
        ),
        migrations.CreateModel(
            name='AlertsSeen',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to=settings.AUTH_USER_MODEL, verbose_name='user')),
                ('seen_at', models.DateTimeField(verbose_name='seen at')),
            ],
            options={
                'verbose_name': 'seen alerts',
                'verbose_name_plural': 'seen alerts',
                'db_table': 'alerts_seen',
            },
        ),
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.UUIDField(default=jobs.ids.uuid7, editable=False, primary_key=True, serialize=False, verbose_name='id')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('query', models.CharField(blank=True, max_length=2000, verbose_name='filter')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'saved view',
                'verbose_name_plural': 'saved views',
                'db_table': 'saved_views',
                'constraints': [models.UniqueConstraint(fields=('user', 'name'), name='one_saved_view_per_name')],
            },
        ),
        migrations.CreateModel(
            name='Deletion',
            fields=[
                ('id', models.UUIDField(default=jobs.ids.uuid7, editable=False, primary_key=True, serialize=False, verbose_name='id')),
                ('kind', models.CharField(choices=[('schedule', 'Schedule'), ('calendar', 'Calendar'), ('view', 'View')], max_length=10, verbose_name='kind')),
                ('row', models.JSONField(verbose_name='row')),
                ('deleted_at', models.DateTimeField(verbose_name='deleted at')),
                ('undone_at', models.DateTimeField(blank=True, null=True, verbose_name='undone at')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'deletion',
                'verbose_name_plural': 'deletions',
                'db_table': 'deletions',
                'indexes': [models.Index(fields=['deleted_at'], name='deletions_by_age')],
            },
        ),
        migrations.CreateModel(
            name='QueueProbe',
            fields=[
                ('role', models.CharField(max_length=64, primary_key=True, serialize=False, verbose_name='queue')),
                ('sent_at', models.DateTimeField(blank=True, null=True, verbose_name='sent at')),
                ('seen_at', models.DateTimeField(blank=True, null=True, verbose_name='last seen at')),
            ],
            options={
                'verbose_name': 'queue probe',
                'verbose_name_plural': 'queue probes',
                'db_table': 'queue_probes',
            },
        ),
        migrations.CreateModel(
            name='Calendar',
            fields=[
                ('id', models.UUIDField(default=jobs.ids.uuid7, editable=False, primary_key=True, serialize=False, verbose_name='id')),
                ('name', models.CharField(max_length=200, verbose_name='name')),
                ('dates', models.JSONField(blank=True, default=list, verbose_name='dates')),
                ('windows', models.JSONField(blank=True, default=list, verbose_name='maintenance windows')),
                ('timezone', models.CharField(default='Asia/Seoul', max_length=64, verbose_name='time zone')),
                ('created_at', models.DateTimeField(editable=False, verbose_name='created at')),
                ('updated_at', models.DateTimeField(editable=False, verbose_name='updated at')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calendars', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
            ],
            options={
                'verbose_name': 'calendar',
                'verbose_name_plural': 'calendars',
                'db_table': 'calendars',
                'ordering': ['name', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Schedule',
            fields=[
                ('id', models.UUIDField(default=jobs.ids.uuid7, editable=False, primary_key=True, serialize=False, verbose_name='id')),
                ('name', models.CharField(max_length=200, verbose_name='name')),
                ('task_id', models.CharField(max_length=200, verbose_name='Task')),
                ('args', models.JSONField(blank=True, default=dict, verbose_name='arguments')),
                ('enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('kind', models.CharField(choices=[('cron', 'cron'), ('interval', 'interval'), ('once', 'once')], max_length=8, verbose_name='schedule type')),
                ('cron', models.CharField(blank=True, max_length=128, verbose_name='cron expression')),
                ('every_seconds', models.BigIntegerField(blank=True, null=True, verbose_name='repeat every (seconds)')),
                ('at', models.DateTimeField(blank=True, null=True, verbose_name='run once at')),
                ('timezone', models.CharField(default='Asia/Seoul', max_length=64, verbose_name='time zone')),
                ('starts_at', models.DateTimeField(blank=True, null=True, verbose_name='starts on')),
                ('ends_at', models.DateTimeField(blank=True, null=True, verbose_name='ends on')),
                ('anchor', models.DateTimeField(editable=False, verbose_name='counted from')),
                ('overlap', models.CharField(choices=[('skip', 'Skip'), ('allow', 'Allow')], default='skip', max_length=8, verbose_name='if the previous run is still running')),
                ('catch_up', models.CharField(choices=[('latest', 'latest'), ('none', 'none'), ('all', 'all')], default='latest', max_length=8, verbose_name='if runs were missed')),
                ('grace', models.PositiveIntegerField(db_default=60, default=60, verbose_name='grace period (s)')),
                ('max_retries', models.PositiveIntegerField(default=3, verbose_name='max retries')),
                ('retry_backoff', models.CharField(blank=True, choices=[('linear', 'Linear'), ('exponential', 'Exponential')], db_default='', default='', max_length=12, verbose_name='delays grow')),
                ('retry_base_delay', models.BigIntegerField(blank=True, null=True, verbose_name='first delay (ms)')),
                ('timeout_ms', models.BigIntegerField(blank=True, null=True, verbose_name='time limit (ms)')),
                ('on_lost', models.CharField(blank=True, choices=[('retry', 'Retry'), ('fail', 'Fail')], db_default='', default='', max_length=8, verbose_name='if the worker is lost')),
                ('notify_after_failures', models.PositiveIntegerField(blank=True, null=True, verbose_name='notify after so many failed runs in a row')),
                ('notify_after_missed', models.PositiveIntegerField(blank=True, null=True, verbose_name='notify after so many missed runs in a row')),
                ('consecutive_failures', models.PositiveIntegerField(db_default=0, default=0, editable=False, verbose_name='failed runs in a row')),
                ('consecutive_missed', models.PositiveIntegerField(db_default=0, default=0, editable=False, verbose_name='missed runs in a row')),
                ('failing_since', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='failing since')),
                ('next_run_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='next run at')),
                ('last_run_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='last scheduled run at')),
                ('last_execution_id', models.UUIDField(blank=True, editable=False, null=True, verbose_name='last run')),
                ('created_at', models.DateTimeField(editable=False, verbose_name='created at')),
                ('updated_at', models.DateTimeField(editable=False, verbose_name='updated at')),
                ('deleted_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='deleted at')),
                ('calendar', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='schedules', to='scheduler.calendar', verbose_name='calendar')),
                ('notify_office', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='jobs.office', verbose_name='notify the office')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='schedules', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
            ],
            options={
                'verbose_name': 'schedule',
                'verbose_name_plural': 'schedules',
                'db_table': 'schedules',
                'ordering': ['name', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Occurrence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('due_at', models.DateTimeField(verbose_name='due at')),
                ('outcome', models.CharField(choices=[('run', 'Run'), ('skipped', 'Skipped'), ('missed', 'Missed')], max_length=8, verbose_name='outcome')),
                ('reason', models.CharField(blank=True, max_length=200, verbose_name='reason')),
                ('execution_id', models.UUIDField(blank=True, null=True, verbose_name='run')),
                ('trigger', models.CharField(choices=[('SCHEDULE', 'Schedule'), ('MANUAL', 'Manual')], db_default='SCHEDULE', default='SCHEDULE', max_length=10, verbose_name='trigger')),
                ('decided_at', models.DateTimeField(verbose_name='decided at')),
                ('schedule', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='occurrences', to='scheduler.schedule', verbose_name='schedule')),
            ],
            options={
                'verbose_name': 'scheduled run',
                'verbose_name_plural': 'scheduled runs',
                'db_table': 'schedule_occurrences',
                'ordering': [models.OrderBy(models.F('due_at'), descending=True)],
            },
        ),
        migrations.CreateModel(
            name='StepQueue',
            fields=[
                ('queue_id', models.BigAutoField(primary_key=True, serialize=False, verbose_name='no.')),
                ('job_number', models.PositiveIntegerField(default=0, verbose_name='jobs')),
                ('operation_direction', models.CharField(choices=[('FORWARD', 'Forward'), ('BACKWARD', 'Backward')], default='FORWARD', max_length=8, verbose_name='direction')),
                ('queue_library', models.CharField(default='UNINIT', max_length=100, verbose_name='library')),
                ('state', models.CharField(choices=[('EMPTY', 'Empty'), ('READY', 'Ready'), ('RUNNING', 'Running')], default='EMPTY', max_length=8, verbose_name='state')),
                ('queue_return', models.JSONField(default=scheduler.steps.models.uninit, verbose_name='return message')),
                ('job_queue', models.CharField(default='UNINIT', max_length=40, verbose_name='first job')),
                ('running_job', models.CharField(default='QUEUE_NOT_RUNNING', max_length=40, verbose_name='running job')),
                ('last_job', models.CharField(default='UNINIT', max_length=40, verbose_name='last job')),
                ('context', models.JSONField(default=dict, verbose_name='context')),
                ('name', models.CharField(blank=True, max_length=200, verbose_name='name')),
                ('callback_url', models.CharField(blank=True, max_length=2000, verbose_name='callback')),
                ('callback_secret', models.CharField(blank=True, editable=False, max_length=100, verbose_name='callback secret')),
                ('started_by', models.UUIDField(blank=True, editable=False, null=True, unique=True, verbose_name='run by')),
                ('run', models.PositiveIntegerField(default=0, verbose_name='run count')),
                ('execution_id', models.UUIDField(blank=True, null=True, verbose_name='run')),
                ('again', models.BooleanField(default=False, verbose_name='rollback retried')),
                ('cancel_requested_at', models.DateTimeField(blank=True, null=True, verbose_name='rollback requested at')),
                ('started_at', models.DateTimeField(blank=True, null=True, verbose_name='started at')),
                ('ended_at', models.DateTimeField(blank=True, null=True, verbose_name='ended at')),
                ('created_at', models.DateTimeField(verbose_name='created at')),
                ('watched_until', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='watched until')),
                ('office', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='step_queues', to='jobs.office', verbose_name='office')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='step_queues', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
            ],
            options={
                'verbose_name': 'step queue',
                'verbose_name_plural': 'step queues',
                'db_table': 'step_queues',
                'ordering': ['-queue_id'],
            },
        ),
        migrations.CreateModel(
            name='StepEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.PositiveIntegerField(verbose_name='run number')),
                ('type', models.CharField(choices=[('queue_started', 'Started'), ('queue_resumed', 'Resumed'), ('step_ended', 'Step Ended'), ('step_retrying', 'Step Retrying'), ('step_undo_failed', 'Undo Failed'), ('queue_cancel_requested', 'Cancel Requested'), ('queue_finished', 'Finished')], max_length=24, verbose_name='event')),
                ('details', models.JSONField(default=dict, verbose_name='details')),
                ('at', models.DateTimeField(verbose_name='time')),
                ('queue', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='scheduler.stepqueue', verbose_name='step queue')),
            ],
            options={
                'verbose_name': 'event of a step queue',
                'verbose_name_plural': 'events of step queues',
                'db_table': 'step_events',
            },
        ),
        migrations.CreateModel(
            name='Step',
            fields=[
                ('job_id', models.UUIDField(default=jobs.ids.uuid7, editable=False, primary_key=True, serialize=False, verbose_name='id')),
                ('forward_operation', models.CharField(default='NO_OPERATION', max_length=100, verbose_name='forward operation')),
                ('backward_operation', models.CharField(default='NO_OPERATION', max_length=100, verbose_name='backward operation')),
                ('arguments', scheduler.steps.models.AnyJSONField(default=scheduler.steps.models.empty_args, verbose_name='arguments')),
                ('operation_library', models.CharField(default='UNINIT', max_length=100, verbose_name='library')),
                ('expired_time', models.FloatField(default=30.0, verbose_name='time limit (s)')),
                ('job_return', models.JSONField(default=scheduler.steps.models.uninit, verbose_name='returns')),
                ('next_job', models.CharField(default='UNLINK', max_length=40, verbose_name='next job')),
                ('prev_job', models.CharField(default='UNLINK', max_length=40, verbose_name='previous job')),
                ('state', models.TextField(default='NOTYET', verbose_name='state')),
                ('number', models.PositiveIntegerField(blank=True, null=True, verbose_name='no.')),
                ('undo_retries', models.PositiveSmallIntegerField(blank=True, null=True, verbose_name='retries of the rollback')),
                ('owner', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
                ('queue', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='steps', to='scheduler.stepqueue', verbose_name='step queue')),
            ],
            options={
                'verbose_name': 'step',
                'verbose_name_plural': 'steps',
                'db_table': 'steps',
                'ordering': ['queue', 'number'],
            },
        ),
        migrations.CreateModel(
            name='Workflow',
            fields=[
                ('id', models.UUIDField(default=jobs.ids.uuid7, editable=False, primary_key=True, serialize=False, verbose_name='id')),
                ('name', models.CharField(max_length=200, verbose_name='name')),
                ('status', models.CharField(choices=[('draft', 'Draft'), ('active', 'Active'), ('paused', 'Paused')], default='draft', max_length=8, verbose_name='status')),
                ('steps', models.JSONField(default=list, verbose_name='steps')),
                ('schedule_config', models.JSONField(verbose_name='schedule settings')),
                ('version', models.PositiveIntegerField(db_default=1, default=1, editable=False, verbose_name='version')),
                ('max_run_retries', models.PositiveIntegerField(db_default=0, default=0, verbose_name='max run retries')),
                ('input_schema', models.JSONField(blank=True, null=True, verbose_name='input schema')),
                ('activated_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='activated at')),
                ('last_occurrence', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='last scheduled run at')),
                ('created_at', models.DateTimeField(editable=False, verbose_name='created at')),
                ('updated_at', models.DateTimeField(editable=False, verbose_name='updated at')),
                ('office', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='workflows', to='jobs.office', verbose_name='office')),
            ],
            options={
                'verbose_name': 'workflow',
                'verbose_name_plural': 'workflows',
                'db_table': 'workflows',
                'ordering': ['name', 'id'],
            },
        ),
        migrations.CreateModel(
            name='WorkflowRun',
            fields=[
                ('id', models.UUIDField(db_default=django.contrib.postgres.functions.RandomUUID(), default=jobs.ids.uuid7, editable=False, primary_key=True, serialize=False, verbose_name='id')),
                ('workflow_data', models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict, verbose_name='definition at start')),
                ('input', models.JSONField(blank=True, null=True, verbose_name='input')),
                ('scheduled_time', models.DateTimeField(verbose_name='scheduled for')),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('running', 'Running'), ('completed', 'Completed'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], db_default='pending', default='pending', max_length=10, verbose_name='status')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='created at')),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='updated at')),
                ('executed_at', models.DateTimeField(blank=True, null=True, verbose_name='started at')),
                ('ended_at', models.DateTimeField(blank=True, null=True, verbose_name='ended at')),
                ('cancel_requested_at', models.DateTimeField(blank=True, null=True, verbose_name='told to stop at')),
                ('retry_count', models.PositiveIntegerField(db_default=0, default=0, verbose_name='retries')),
                ('error_message', models.TextField(blank=True, db_default='', verbose_name='error')),
                ('error_text', models.JSONField(editable=False, null=True)),
                ('batch', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='jobs.batch', verbose_name='batch')),
                ('started_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='started by')),
                ('workflow', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='scheduler.workflow', verbose_name='workflow')),
            ],
            options={
                'verbose_name': 'workflow run',
                'verbose_name_plural': 'workflow runs',
                'db_table': 'scheduled_jobs',
            },
        ),
        migrations.CreateModel(
            name='WorkflowRunStart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(verbose_name='no.')),
                ('started_at', models.DateTimeField(verbose_name='started at')),
                ('ended_at', models.DateTimeField(blank=True, null=True, verbose_name='ended at')),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('running', 'Running'), ('completed', 'Completed'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='running', max_length=10, verbose_name='status')),
                ('error_message', models.TextField(blank=True, verbose_name='error')),
                ('error_text', models.JSONField(editable=False, null=True)),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='history', to='scheduler.workflowrun', verbose_name='run')),
            ],
            options={
                'verbose_name': 'run log entry',
                'verbose_name_plural': 'run log',
                'db_table': 'workflow_run_history',
                'ordering': ['run', 'number'],
            },
        ),
        migrations.AddIndex(
            model_name='calendar',
            index=models.Index(fields=['owner', 'name'], name='calendars_of_owner'),
        ),
        migrations.AddIndex(
            model_name='schedule',
            index=models.Index(condition=models.Q(('next_run_at__isnull', False)), fields=['next_run_at'], name='schedules_due'),
        ),
        migrations.AddIndex(
            model_name='schedule',
            index=models.Index(fields=['owner', 'name'], name='schedules_of_owner'),
        ),
        migrations.AddIndex(
            model_name='schedule',
            index=models.Index(condition=models.Q(('failing_since__isnull', False)), fields=['owner', 'failing_since'], name='schedules_failing'),
        ),
        migrations.AddIndex(
            model_name='schedule',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['deleted_at'], name='schedules_deleted'),
        ),
        migrations.AddConstraint(
            model_name='schedule',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('at__isnull', True), ('every_seconds__isnull', True), ('kind', 'cron'), models.Q(('cron', ''), _negated=True)), models.Q(('at__isnull', True), ('cron', ''), ('every_seconds__gte', 1), ('kind', 'interval')), models.Q(('at__isnull', False), ('cron', ''), ('every_seconds__isnull', True), ('kind', 'once')), _connector='OR'), name='schedule_has_the_rule_of_its_kind'),
        ),
        migrations.AddConstraint(
            model_name='schedule',
            constraint=models.CheckConstraint(condition=models.Q(('enabled', True), ('next_run_at__isnull', True), _connector='OR'), name='schedule_paused_is_never_due'),
        ),
        migrations.AddConstraint(
            model_name='schedule',
            constraint=models.CheckConstraint(condition=models.Q(('deleted_at__isnull', True), models.Q(('calendar__isnull', True), ('enabled', False)), _connector='OR'), name='schedule_deleted_is_paused'),
        ),
        migrations.AddConstraint(
            model_name='schedule',
            constraint=models.CheckConstraint(condition=models.Q(('overlap__in', ['skip', 'allow'])), name='schedule_overlap_known'),
        ),
        migrations.AddConstraint(
            model_name='schedule',
            constraint=models.CheckConstraint(condition=models.Q(('catch_up__in', ['latest', 'none', 'all'])), name='schedule_catch_up_known'),
        ),
        migrations.AddIndex(
            model_name='occurrence',
            index=models.Index(fields=['decided_at'], name='occurrences_by_age'),
        ),
        migrations.AddIndex(
            model_name='occurrence',
            index=models.Index(condition=models.Q(('trigger', 'MANUAL')), fields=['schedule', 'due_at'], name='occurrences_by_hand'),
        ),
        migrations.AddIndex(
            model_name='occurrence',
            index=models.Index(condition=models.Q(('trigger', 'MANUAL')), fields=['execution_id'], name='occurrences_of_manual_runs'),
        ),
        migrations.AddConstraint(
            model_name='occurrence',
            constraint=models.UniqueConstraint(fields=('schedule', 'due_at'), name='one_occurrence_per_due_time'),
        ),
        migrations.AddConstraint(
            model_name='occurrence',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('execution_id__isnull', False), ('outcome', 'run')), models.Q(models.Q(('outcome', 'run'), _negated=True), ('execution_id__isnull', True)), _connector='OR'), name='occurrence_run_iff_execution'),
        ),
        migrations.AddConstraint(
            model_name='occurrence',
            constraint=models.CheckConstraint(condition=models.Q(('outcome__in', ['run', 'skipped', 'missed'])), name='occurrence_outcome_known'),
        ),
        migrations.AddIndex(
            model_name='stepqueue',
            index=models.Index(models.F('owner'), models.OrderBy(models.F('queue_id'), descending=True), name='step_queues_of_owner'),
        ),
        migrations.AddIndex(
            model_name='stepqueue',
            index=models.Index(models.F('office'), models.OrderBy(models.F('queue_id'), descending=True), condition=models.Q(('office__isnull', False)), name='step_queues_of_office'),
        ),
        migrations.AddIndex(
            model_name='stepqueue',
            index=models.Index(condition=models.Q(('started_by__isnull', False)), fields=['ended_at'], name='step_queues_of_runs'),
        ),
        migrations.AddIndex(
            model_name='stepqueue',
            index=models.Index(condition=models.Q(('state', 'RUNNING')), fields=['state'], name='step_queues_running'),
        ),
        migrations.AddConstraint(
            model_name='stepqueue',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['EMPTY', 'READY', 'RUNNING'])), name='step_queue_state_known'),
        ),
        migrations.AddConstraint(
            model_name='stepqueue',
            constraint=models.CheckConstraint(condition=models.Q(('operation_direction__in', ['FORWARD', 'BACKWARD'])), name='step_queue_direction_known'),
        ),
        migrations.AddConstraint(
            model_name='stepqueue',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('execution_id__isnull', False), ('state', 'RUNNING'), models.Q(('running_job', 'QUEUE_NOT_RUNNING'), _negated=True)), models.Q(models.Q(('state', 'RUNNING'), _negated=True), ('again', False), ('execution_id__isnull', True), ('running_job', 'QUEUE_NOT_RUNNING')), _connector='OR'), name='step_queue_running_iff_operating'),
        ),
        migrations.AddConstraint(
            model_name='stepqueue',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('job_number', 0), ('job_queue', 'UNINIT'), ('last_job', 'UNINIT'), ('state', 'EMPTY')), models.Q(models.Q(('state', 'EMPTY'), _negated=True), ('job_number__gt', 0), models.Q(('job_queue', 'UNINIT'), _negated=True), models.Q(('last_job', 'UNINIT'), _negated=True)), _connector='OR'), name='step_queue_empty_iff_without_jobs'),
        ),
        migrations.AddIndex(
            model_name='stepevent',
            index=models.Index(fields=['queue', 'id'], name='step_events_of_queue'),
        ),
        migrations.AddIndex(
            model_name='step',
            index=models.Index(condition=models.Q(('state__endswith', ', FAILED')), fields=['queue'], name='steps_undo_failed'),
        ),
        migrations.AddConstraint(
            model_name='step',
            constraint=models.UniqueConstraint(deferrable=models.Deferrable['IMMEDIATE'], fields=('queue', 'number'), name='one_step_per_number'),
        ),
        migrations.AddConstraint(
            model_name='step',
            constraint=models.CheckConstraint(condition=models.Q(('expired_time__gt', 0)), name='step_expired_time_positive'),
        ),
        migrations.AddConstraint(
            model_name='step',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('number__isnull', False), ('owner__isnull', True), ('queue__isnull', False), models.Q(('prev_job', 'UNLINK'), _negated=True), models.Q(('next_job', 'UNLINK'), _negated=True)), models.Q(('next_job', 'UNLINK'), ('number__isnull', True), ('owner__isnull', False), ('prev_job', 'UNLINK'), ('queue__isnull', True)), _connector='OR'), name='step_linked_iff_in_queue'),
        ),
        migrations.AddConstraint(
            model_name='step',
            constraint=models.CheckConstraint(condition=models.Q(('undo_retries__isnull', True), ('undo_retries__lte', 20), _connector='OR'), name='step_undo_retries_limited'),
        ),
        migrations.AddIndex(
            model_name='step',
            index=models.Index(condition=models.Q(('owner__isnull', False)), fields=['owner', 'job_id'], name='steps_of_owner'),
        ),
        migrations.AddIndex(
            model_name='workflow',
            index=models.Index(condition=models.Q(('status', 'active')), fields=['id'], name='workflows_active'),
        ),
        migrations.AddConstraint(
            model_name='workflow',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['draft', 'active', 'paused'])), name='workflow_status_known'),
        ),
        migrations.AddConstraint(
            model_name='workflow',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status', 'active'), _negated=True), ('activated_at__isnull', False), _connector='OR'), name='workflow_active_has_a_beginning'),
        ),
        migrations.AddIndex(
            model_name='workflowrun',
            index=models.Index(condition=models.Q(('status', 'pending')), fields=['scheduled_time'], name='runs_pending'),
        ),
        migrations.AddIndex(
            model_name='workflowrun',
            index=models.Index(condition=models.Q(('status', 'running')), fields=['updated_at'], name='runs_running'),
        ),
        migrations.AddIndex(
            model_name='workflowrun',
            index=models.Index(models.F('workflow'), models.OrderBy(models.F('scheduled_time'), descending=True), name='runs_of_workflow'),
        ),
        migrations.AddIndex(
            model_name='workflowrun',
            index=models.Index(condition=models.Q(('ended_at__isnull', False)), fields=['ended_at'], name='runs_ended'),
        ),
        migrations.AddIndex(
            model_name='workflowrun',
            index=models.Index(models.OrderBy(models.F('ended_at'), descending=True), condition=models.Q(('status', 'failed')), name='runs_failed'),
        ),
        migrations.AddConstraint(
            model_name='workflowrun',
            constraint=models.UniqueConstraint(condition=models.Q(('status', 'pending')), fields=('workflow',), name='one_pending_run_per_workflow'),
        ),
        migrations.AddConstraint(
            model_name='workflowrun',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'running', 'completed', 'failed', 'cancelled'])), name='run_status_known'),
        ),
        migrations.AddConstraint(
            model_name='workflowrun',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', False), ('status__in', ('completed', 'failed', 'cancelled'))), models.Q(models.Q(('status__in', ('completed', 'failed', 'cancelled')), _negated=True), ('ended_at__isnull', True)), _connector='OR'), name='run_ended_iff_ended_at'),
        ),
        migrations.AddConstraint(
            model_name='workflowrun',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('executed_at__isnull', True), ('status', 'pending')), models.Q(models.Q(('status', 'pending'), _negated=True), ('executed_at__isnull', False)), _connector='OR'), name='run_pending_iff_not_executed'),
        ),
        migrations.AddConstraint(
            model_name='workflowrunstart',
            constraint=models.UniqueConstraint(fields=('run', 'number'), name='one_start_per_number'),
        ),
    ]
